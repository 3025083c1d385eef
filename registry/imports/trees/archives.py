"""Reads archives that contain skills: validates the entries, unpacks them and reads the folder as a tree."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from registry.core.limits import import_limits
from registry.imports.candidates import SkillCandidate, SkippedPath
from registry.imports.trees.tree import Tree, read_tree
from registry.packages import errors as package_errors
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.paths import check_paths, is_junk, normalize_path
from registry.packages.archive.repack import unpack_files
from registry.packages.archive.tar_reader import read_tar_gz
from registry.packages.archive.zip_reader import read_zip
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.problems import Refusal

_MEANINGFUL_FOLDERS = frozenset(
    {"skills", ".claude", "agents", "commands"}
)  # never removed as wrapping folders, because their names have a meaning
# These problems refuse one skill of the archive, not the whole archive.
_SKILL_LEVEL_CODES = frozenset(
    {package_errors.PATH_CHARACTERS.name, package_errors.PATH_RESERVED.name, package_errors.PATH_CLASH.name}
)


def read_archive(
    data: bytes, scratch: Path, *, source: str, provenance: Mapping[str, str], name: str = ""
) -> Iterator[SkillCandidate | SkippedPath]:
    """Unpacks a zip or tar.gz into ``scratch`` and returns its candidates. Raises Refusal if the archive is
    invalid or exceeds the import limits.
    """
    limits = import_limits()
    if len(data) > limits.archive:
        raise package_errors.ARCHIVE_TOO_LARGE.refusal(size=len(data), limit=limits.archive)
    return read_entries(_entries(data, limits), scratch, source=source, provenance=provenance, name=name)


def read_entries(
    entries: Iterable[ArchiveEntry],
    scratch: Path,
    *,
    source: str,
    provenance: Mapping[str, str],
    name: str = "",
) -> Iterator[SkillCandidate | SkippedPath]:
    """Like ``read_archive``, for entries that were read already, such as those of a commit."""
    entries = [entry for entry in entries if not is_junk(entry.path)]
    _check(entries, import_limits())
    unpack_files(
        (
            PackageFile(normalize_path(e.path), e.data, e.executable)
            for e in entries
            if e.data is not None and not e.link
        ),
        scratch,
    )
    _create_links([entry for entry in entries if entry.link], scratch)
    top = _unwrap(scratch)
    named = name if top == scratch else ""
    return read_tree(Tree(top, source, provenance, name=named, deep=True, is_tracked=True))


def _entries(data: bytes, limits: Limits) -> Sequence[ArchiveEntry]:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return read_zip(data, limits, with_links=True)
    if data[:2] == b"\x1f\x8b":
        return read_tar_gz(data, limits, with_links=True)
    raise package_errors.ARCHIVE_FORMAT.refusal()


def _check(entries: Sequence[ArchiveEntry], limits: Limits) -> None:
    """Raises Refusal for paths that can't be written safely. Path problems that concern only one skill are
    reported later, for that skill.
    """
    problems = [found for found in check_paths(entries, limits) if found.code not in _SKILL_LEVEL_CODES]
    if problems:
        raise Refusal(*problems)
    for entry in entries:
        if "\0" in entry.path:
            raise package_errors.PATH_CHARACTERS.refusal(reason="NUL")


def _create_links(links: Sequence[ArchiveEntry], scratch: Path) -> None:
    """Creates the symbolic links after all files, so that no file is written through a link. The targets are
    checked when the links are read.
    """
    paths = [scratch / normalize_path(entry.path) for entry in links]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    for path, entry in zip(paths, links, strict=True):
        if not os.path.lexists(path) and "\0" not in entry.link:
            path.symlink_to(entry.link)


def _unwrap(folder: Path) -> Path:
    """The only subfolder if it contains everything, as in the download of a repository; otherwise the folder
    itself. Subfolders whose name has a meaning, such as ``skills``, are not unwrapped.
    """
    items = list(folder.iterdir())
    is_single = len(items) == 1 and items[0].is_dir() and not items[0].is_symlink()
    return items[0] if is_single and items[0].name not in _MEANINGFUL_FOLDERS else folder
