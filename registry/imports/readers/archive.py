"""Reads uploaded archives that contain skills. The archive is stored as a blob; its digest is the source's
last revision.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from registry.identity.actors import Actor
from registry.imports.candidates import ReadProgress, SourceContent
from registry.imports.errors import IMPORT_ARCHIVE_GONE, IMPORT_OPTION
from registry.imports.trees.archives import read_archive
from registry.models import Source, SourceKind
from registry.packages.archive.paths import printable
from registry.packages.manifest.naming import Origin
from registry.storage import blobs


def check(location: str, options: Mapping[str, object], actor: Actor) -> tuple[str, dict[str, object]]:
    """The name of the archive, made printable, and no options. Raises IMPORT_OPTION for any option."""
    for name in options:
        raise IMPORT_OPTION.refusal(option=printable(name)).at(f"options/{printable(name)}")
    return printable(location) or "archive", {}


def read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    if not source.last_revision:
        raise IMPORT_ARCHIVE_GONE.refusal(archive=source.location)
    name = Origin(filename=source.location).stem
    provenance = {"archive": source.location, "digest": source.last_revision}
    data = blobs.read(source.last_revision)
    progress.add_bytes(len(data))
    items = read_archive(data, scratch, source="archive", provenance=provenance, name=name)
    return SourceContent(items, state=source.last_revision)


def references() -> Iterable[str]:
    """The digests of the blobs that archive sources reference."""
    return (
        Source.objects.filter(kind=SourceKind.ARCHIVE)
        .exclude(last_revision="")
        .values_list("last_revision", flat=True)
    )
