"""Reads candidates from any folder on the server. For this reason, only administrators and the
shell may use this reader.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.imports.candidates import ReadProgress, SourceContent
from registry.imports.errors import IMPORT_LOCATION, IMPORT_OPTION
from registry.imports.trees.roots import is_paths
from registry.imports.trees.tree import Tree, read_tree
from registry.models import Source
from registry.packages.archive.paths import printable
from registry.packages.problems import gettext_noop

_FLAGS = ("recursive", "parents", "allow_external")


def check(location: str, options: Mapping[str, object], actor: Actor) -> tuple[str, dict[str, object]]:
    """The folder's absolute path and its options. Raises FORBIDDEN unless the actor is an administrator,
    IMPORT_OPTION for an invalid option, and IMPORT_LOCATION if there is no such folder.
    """
    _require_administrator(actor)
    for name, value in options.items():
        is_valid = is_paths(value) if name == "paths" else name in _FLAGS and isinstance(value, bool)
        if not is_valid:
            raise IMPORT_OPTION.refusal(option=printable(name)).at(f"options/{printable(name)}")
    folder = Path(os.path.abspath(os.path.expanduser(location)))
    if "\0" in location or not folder.is_dir():
        reason = gettext_noop("it is not a folder")
        raise IMPORT_LOCATION.refusal(location=printable(location), reason=reason).at("location")
    return str(folder), dict(options)


def read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    _require_administrator(actor)
    options = source.options
    tree = Tree(
        Path(source.location),
        "disk",
        # only the name: public skills must not reveal paths of the server
        {"folder": Path(source.location).name},
        paths=tuple(options.get("paths", ())),
        deep=bool(options.get("recursive")),
        above=bool(options.get("parents")),
        allow_external=bool(options.get("allow_external")),
    )
    return SourceContent(read_tree(tree))


def _require_administrator(actor: Actor) -> None:
    if not actor.is_administrator:
        raise FORBIDDEN.refusal(action="import a folder on the server").at("kind")
