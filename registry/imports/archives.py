"""An archive with many skills, as a repository is downloaded: through the gate, onto disk, read as a tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from registry.imports.found import Found, Passed
from registry.imports.trees import Tree, read_tree
from registry.limits import import_limits
from registry.packages.entries import Entry
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.paths import check_paths, is_junk, plain
from registry.packages.problems import Refused, refuse
from registry.packages.repack import unpack_files
from registry.packages.tar_archive import read_tar_gz
from registry.packages.zip_archive import read_zip

_MEANT = frozenset({"skills", ".claude", "agents", "commands"})  # folders that say what is in them
_ONE_SKILLS = frozenset({"PATH_CHARACTERS", "PATH_RESERVED", "PATH_CLASH"})  # refuse its skill, not the rest


def read_archive(
    data: bytes, scratch: Path, *, source: str, provenance: Mapping[str, str], name: str = ""
) -> Iterator[Found | Passed]:
    """``scratch`` is where it is unpacked. Refuses what the gate refuses, before anything is written."""
    limits = import_limits()
    if len(data) > limits.archive:
        raise refuse("ARCHIVE_TOO_LARGE", size=len(data), limit=limits.archive)
    return read_entries(_entries(data, limits), scratch, source=source, provenance=provenance, name=name)


def read_entries(
    entries: Iterable[Entry], scratch: Path, *, source: str, provenance: Mapping[str, str], name: str = ""
) -> Iterator[Found | Passed]:
    """The same of what was read already, from an archive or a commit."""
    entries = [entry for entry in entries if not is_junk(entry.path)]
    _check(entries, import_limits())
    unpack_files(
        (
            PackageFile(plain(e.path), e.data, e.executable)
            for e in entries
            if e.data is not None and not e.link
        ),
        scratch,
    )
    _link([entry for entry in entries if entry.link], scratch)
    top = _unwrapped(scratch)
    named = name if top == scratch else ""
    return read_tree(Tree(top, source, provenance, name=named, deep=True, is_tracked=True))


def _entries(data: bytes, limits: Limits) -> Sequence[Entry]:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return read_zip(data, limits, with_links=True)
    if data[:2] == b"\x1f\x8b":
        return read_tar_gz(data, limits, with_links=True)
    raise refuse("ARCHIVE_FORMAT")


def _check(entries: Sequence[Entry], limits: Limits) -> None:
    """Every path can be written below a folder of ours; what else is wrong is said of the skill it is in."""
    bad = [found for found in check_paths(entries, limits) if found.code not in _ONE_SKILLS]
    if bad:
        raise Refused(*bad)
    for entry in entries:
        if "\0" in entry.path:
            raise refuse("PATH_CHARACTERS", reason="NUL")


def _link(links: Sequence[Entry], scratch: Path) -> None:
    """Made after every file and folder, so that nothing is ever written through one; reading checks them."""
    paths = [scratch / plain(entry.path) for entry in links]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    for path, entry in zip(paths, links, strict=True):
        if not os.path.lexists(path) and "\0" not in entry.link:
            path.symlink_to(entry.link)


def _unwrapped(folder: Path) -> Path:
    """The one folder that is around everything, as in a repository's download."""
    inside = list(folder.iterdir())
    alone = len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink()
    return inside[0] if alone and inside[0].name not in _MEANT else folder
