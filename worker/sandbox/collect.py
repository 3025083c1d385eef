"""Opens the output files of a run, which are untrusted."""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DEPTH = 32
_NOT_REGULAR = "not a regular file"


@dataclass(frozen=True)
class CollectedFile:
    """An open file; read at most ``size`` bytes. ``path`` is relative to the collected folder, with ``/``."""

    path: str
    size: int
    file: BinaryIO


def collect(
    job_dir: Path,
    *,
    subfolder: str = "output",
    max_files: int = 1000,
    max_bytes: int = 256 << 20,
    on_skip: Callable[[str, str], None] | None = None,
    is_ignored: Callable[[CollectedFile], bool] | None = None,
    known_links: Collection[str] = (),
    tool_folders: Collection[str] = (),
) -> Iterator[CollectedFile]:
    """Yields the regular files below ``job_dir/subfolder``, folder by folder in the order of names.

    Each file is closed before the next one is yielded. Skips and passes to ``on_skip(path, reason)``: links,
    hard links, devices, pipes, files whose owner is not that of ``job_dir``, unreadable entries, invalid
    names, folders that are too deep or in ``tool_folders``, and files beyond the limits. Names must be UTF-8
    without control characters. A missing subfolder yields nothing. Silently omits the links ``known_links``
    at the top, and files for which ``is_ignored`` is true. ``is_ignored`` must return the file's position to
    its start.
    """

    def skip(path: str, reason: str) -> None:
        if on_skip and not (reason == _NOT_REGULAR and path in known_links):
            on_skip(path, reason)

    try:
        top = os.open(job_dir, _FOLDER)
    except OSError:
        return
    try:
        owner = os.fstat(top).st_uid  # the run's user, which owns the folder
        folder = os.open(subfolder, _FOLDER, dir_fd=top)
    except OSError:
        return
    finally:
        os.close(top)
    count, used = 0, 0
    for path, descriptor in _files(folder, "", owner, skip, tool_folders):
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if is_ignored and is_ignored(CollectedFile(path, size, file)):
                continue
            if count == max_files or used + size > max_bytes:
                skip(path, "too many files" if count == max_files else "too many bytes")
                continue
            count, used = count + 1, used + size
            yield CollectedFile(path, size, file)


def _files(
    folder: int, prefix: str, owner: int, skip: Callable[[str, str], None], tool_folders: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Yields path and open descriptor of each regular file below ``folder``; closes ``folder`` at the end."""
    try:
        for name in sorted(os.listdir(folder)):
            path = prefix + name
            if reason := _invalid_name_reason(path):
                skip(path.encode(errors="replace").decode(), reason)
                continue
            kind = _kind(folder, name)
            if stat.S_ISDIR(kind) and name in tool_folders:
                skip(path, "a folder of a tool or cache")
            elif stat.S_ISDIR(kind):
                yield from _files_below(folder, name, path, owner, skip, tool_folders)
            elif stat.S_ISREG(kind):
                yield from _file(folder, name, path, owner, skip)
            else:
                skip(path, _NOT_REGULAR)
    finally:
        os.close(folder)


def _files_below(
    folder: int,
    name: str,
    path: str,
    owner: int,
    skip: Callable[[str, str], None],
    tool_folders: Collection[str],
) -> Iterator[tuple[str, int]]:
    if path.count("/") >= _DEPTH:
        skip(path, "too deep")
        return
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        skip(path, error.strerror or "unreadable")
        return
    yield from _files(inner, path + "/", owner, skip, tool_folders)


def _file(
    folder: int, name: str, path: str, owner: int, skip: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        skip(path, error.strerror or "unreadable")
        return
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_uid != owner:
        os.close(descriptor)
        skip(path, "hard-linked" if status.st_nlink != 1 else "owned by another user")
        return
    yield path, descriptor


def _kind(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _invalid_name_reason(path: str) -> str:
    """The reason why a URL or a database can't hold the path; "" if the path is valid."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    controls = any(ord(character) < 32 or 127 <= ord(character) < 160 for character in path)
    return "its name contains control characters" if controls else ""
