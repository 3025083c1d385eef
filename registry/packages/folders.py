"""A folder of this machine → entries: links in it are refused, never followed, and memory stays bounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from registry.packages.entries import Entry
from registry.packages.limits import Limits
from registry.packages.paths import is_junk, shown
from registry.packages.problems import Problem, Refused, problem, refuse


def folder_entries(
    folder: Path, limits: Limits, *, leave_out: Callable[[str], bool] = is_junk
) -> tuple[Entry, ...]:
    """Its files and folders, without those whose path is to be left out."""
    walk = _Walk(limits, leave_out)
    try:
        walk.into(folder, "")
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=shown(folder.name), reason=error.strerror or "") from None
    if walk.problems:
        raise Refused(*walk.problems)
    check_sizes(walk.entries, limits)
    return tuple(walk.entries)


class _Walk:
    def __init__(self, limits: Limits, leave_out: Callable[[str], bool]) -> None:
        self.limits, self.leave_out = limits, leave_out
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self.size = 0

    def into(self, folder: Path, prefix: str) -> None:
        for item in sorted(os.scandir(folder), key=lambda item: item.name):
            if not self.leave_out(prefix + item.name):
                self._check_path(prefix + item.name)
                self._take(item, prefix + item.name)

    def _check_path(self, path: str) -> None:
        if len(self.entries) > self.limits.entries:
            raise refuse("ARCHIVE_TOO_MANY_ENTRIES", limit=self.limits.entries)
        if path.count("/") > self.limits.path_depth:
            raise refuse("PATH_TOO_DEEP", path=shown(path), limit=self.limits.path_depth)

    def _take(self, item: os.DirEntry[str], path: str) -> None:
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            self.entries.append(Entry(path, None))
            self.into(Path(item.path), path + "/")
        elif stat.S_ISREG(mode):
            self.entries.append(Entry(path, self._read(item.path), bool(mode & 0o111)))
        elif stat.S_ISLNK(mode):
            self.problems.append(problem("ENTRY_LINK", path=shown(path)))
        else:
            self.problems.append(problem("ENTRY_SPECIAL", path=shown(path), kind=f"{stat.S_IFMT(mode):#o}"))

    def _read(self, path: str) -> bytes:
        """One byte more than the limit at most, so that what grows or is huge is found out."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as source:
            data = source.read(self.limits.file + 1)
        self.size += len(data)
        if self.size > self.limits.unpacked + self.limits.file:
            raise refuse("PACKAGE_TOO_LARGE", limit=self.limits.unpacked)
        return data


def check_sizes(entries: Sequence[Entry], limits: Limits) -> None:
    """Refuses entries that are more or larger than a package may be."""
    if len(entries) > limits.entries:
        raise refuse("ARCHIVE_TOO_MANY_ENTRIES", limit=limits.entries)
    large = [entry for entry in entries if len(entry.data or b"") > limits.file]
    if large:
        raise Refused(
            *(problem("FILE_TOO_LARGE", path=shown(entry.path), limit=limits.file) for entry in large)
        )
    if sum(len(entry.data or b"") for entry in entries) > limits.unpacked:
        raise refuse("PACKAGE_TOO_LARGE", limit=limits.unpacked)
