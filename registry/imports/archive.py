"""An uploaded archive with many skills; its bytes are a blob, named by what the source has seen last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from registry import storage
from registry.actors import Actor
from registry.imports.archives import read_archive
from registry.imports.found import Reading
from registry.models import Source, SourceKind
from registry.packages.naming import Origin
from registry.packages.paths import shown
from registry.packages.problems import refuse


def check(location: str, options: Mapping[str, object], actor: Actor) -> tuple[str, dict[str, object]]:
    """The archive's name; it has no options."""
    for name in options:
        raise refuse("IMPORT_OPTION", path=f"options/{shown(name)}", option=shown(name))
    return shown(location) or "archive", {}


def read(source: Source, actor: Actor, scratch: Path) -> Reading:
    name = Origin(filename=source.location).stem
    provenance = {"archive": source.location, "digest": source.seen}
    found = read_archive(
        storage.read(source.seen), scratch, source="archive", provenance=provenance, name=name
    )
    return Reading(found, seen=source.seen)


def references() -> Iterable[str]:
    """The blobs that can be imported again."""
    return Source.objects.filter(kind=SourceKind.ARCHIVE).exclude(seen="").values_list("seen", flat=True)
