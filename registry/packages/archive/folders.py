"""Reads a local folder into entries with bounded memory. Symbolic links are refused, never followed."""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from registry.packages import errors
from registry.packages.archive.entries import ArchiveEntry, special_kind
from registry.packages.archive.paths import is_junk, printable
from registry.packages.limits import Limits
from registry.packages.problems import Problem, Refusal


def folder_entries(
    folder: Path, limits: Limits, *, exclude: Callable[[str], bool] = is_junk
) -> tuple[ArchiveEntry, ...]:
    """The entries of the folder and its subfolders, except those for which ``exclude`` is true.

    Raises Refusal for links, special files and unreadable files, and above the limits of number, depth or
    size.
    """
    walk = _Walk(limits, exclude)
    try:
        walk.visit(folder, "")
    except OSError as error:
        raise errors.FILE_UNREADABLE.refusal(reason=error.strerror or "").at(printable(folder.name)) from None
    if walk.problems:
        raise Refusal(*walk.problems)
    check_sizes(walk.entries, limits)
    return tuple(walk.entries)


class _Walk:
    def __init__(self, limits: Limits, exclude: Callable[[str], bool]) -> None:
        self.limits, self.exclude = limits, exclude
        self.entries: list[ArchiveEntry] = []
        self.problems: list[Problem] = []
        self.size = 0

    def visit(self, folder: Path, prefix: str) -> None:
        for item in sorted(os.scandir(folder), key=lambda item: item.name):
            if not self.exclude(prefix + item.name):
                self._check_path(prefix + item.name)
                self._add(item, prefix + item.name)

    def _check_path(self, path: str) -> None:
        if len(self.entries) > self.limits.entries:
            raise errors.ARCHIVE_TOO_MANY_ENTRIES.refusal(limit=self.limits.entries)
        if path.count("/") > self.limits.path_depth:
            raise errors.PATH_TOO_DEEP.refusal(limit=self.limits.path_depth).at(printable(path))

    def _add(self, item: os.DirEntry[str], path: str) -> None:
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            self.entries.append(ArchiveEntry(path, None))
            self.visit(Path(item.path), path + "/")
        elif stat.S_ISREG(mode):
            self.entries.append(ArchiveEntry(path, self._read(item.path), bool(mode & 0o111)))
        elif stat.S_ISLNK(mode):
            self.problems.append(errors.ENTRY_LINK.problem().at(printable(path)))
        else:
            problem = errors.ENTRY_SPECIAL.problem(kind=special_kind(mode))
            self.problems.append(problem.at(printable(path)))

    def _read(self, path: str) -> bytes:
        """At most the first ``limits.file + 1`` bytes of a file. ``check_sizes`` later refuses a file of this
        size.

        Raises PACKAGE_TOO_LARGE once the files read so far exceed the two limits ``unpacked`` and ``file``
        together.
        """
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as source:
            data = source.read(self.limits.file + 1)
        self.size += len(data)
        if self.size > self.limits.unpacked + self.limits.file:
            raise errors.PACKAGE_TOO_LARGE.refusal(limit=self.limits.unpacked)
        return data


def check_sizes(entries: Sequence[ArchiveEntry], limits: Limits) -> None:
    """Raises Refusal if there are too many entries, or if a file or all files together are too large."""
    if len(entries) > limits.entries:
        raise errors.ARCHIVE_TOO_MANY_ENTRIES.refusal(limit=limits.entries)
    large = [entry for entry in entries if len(entry.data or b"") > limits.file]
    if large:
        raise Refusal(
            *(errors.FILE_TOO_LARGE.problem(limit=limits.file).at(printable(entry.path)) for entry in large)
        )
    if sum(len(entry.data or b"") for entry in entries) > limits.unpacked:
        raise errors.PACKAGE_TOO_LARGE.refusal(limit=limits.unpacked)
