"""A folder of this machine: the shell's and administrators' alone, since its paths are the machine's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from registry.actors import Actor
from registry.imports.found import Reading
from registry.imports.roots import is_paths
from registry.imports.trees import Tree, read_tree
from registry.models import Source
from registry.packages.paths import shown
from registry.packages.problems import refuse

_SWITCHES = ("deep", "above", "allow_external")


def check(location: str, options: Mapping[str, object], actor: Actor) -> tuple[str, dict[str, object]]:
    """The folder's whole path; options ``paths``, ``deep``, ``above`` and ``allow_external``."""
    _require_administrator(actor)
    for name, value in options.items():
        good = is_paths(value) if name == "paths" else name in _SWITCHES and isinstance(value, bool)
        if not good:
            raise refuse("IMPORT_OPTION", path=f"options/{shown(name)}", option=shown(name))
    folder = Path(os.path.abspath(os.path.expanduser(location)))
    if "\0" in location or not folder.is_dir():
        raise refuse("IMPORT_LOCATION", path="location", location=shown(location), reason="it is no folder")
    return str(folder), dict(options)


def read(source: Source, actor: Actor, scratch: Path) -> Reading:
    _require_administrator(actor)
    options = source.options
    tree = Tree(
        Path(source.location),
        "disk",
        {"folder": Path(source.location).name},  # a public skill must not tell the machine's paths
        paths=tuple(options.get("paths", ())),
        deep=bool(options.get("deep")),
        above=bool(options.get("above")),
        allow_external=bool(options.get("allow_external")),
    )
    return Reading(read_tree(tree))


def _require_administrator(actor: Actor) -> None:
    if not actor.is_administrator:
        raise refuse("FORBIDDEN", path="kind", action="import a folder of the server")
