"""Opens the output files of a run without trusting anything about them."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DEPTH = 32


@dataclass(frozen=True)
class CollectedFile:
    """An open file; read at most ``size`` bytes. ``path`` is relative to the folder, with ``/``."""

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
) -> Iterator[CollectedFile]:
    """Yields the regular files below ``job_dir/subfolder``, sorted; each is closed before the next one.

    Skips links, hard links, devices, pipes, files of another owner, names that are not text, and files that
    are too deep or exceed the limits. Calls ``on_skip(path, reason)`` for each. Ignores file modes.
    """
    skip = on_skip or (lambda path, reason: None)
    try:
        top = os.open(job_dir, _FOLDER)
    except OSError:
        return
    try:
        owner = os.fstat(top).st_uid  # the folder was given to the run's uid before it started
        folder = os.open(subfolder, _FOLDER, dir_fd=top)
    except OSError:
        return
    finally:
        os.close(top)
    count, used = 0, 0
    for path, descriptor in _files(folder, "", owner, skip):
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if count == max_files or used + size > max_bytes:
                skip(path, "too many files" if count == max_files else "too many bytes")
                continue
            count, used = count + 1, used + size
            yield CollectedFile(path, size, file)


def _files(
    folder: int, prefix: str, owner: int, skip: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    """Yields path and descriptor of each regular file below ``folder``, and closes ``folder``."""
    try:
        for name in sorted(os.listdir(folder)):
            path = prefix + name
            if reason := _invalid_name_reason(path):
                skip(path.encode(errors="replace").decode(), reason)
                continue
            kind = _kind(folder, name)
            if stat.S_ISDIR(kind):
                yield from _files_below(folder, name, path, owner, skip)
            elif stat.S_ISREG(kind):
                yield from _file(folder, name, path, owner, skip)
            else:
                skip(path, "not a regular file")
    finally:
        os.close(folder)


def _files_below(
    folder: int, name: str, path: str, owner: int, skip: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    if path.count("/") >= _DEPTH:
        skip(path, "too deep")
        return
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        skip(path, error.strerror or "unreadable")
        return
    yield from _files(inner, path + "/", owner, skip)


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
    """Why a URL or a database can't hold the path; "" if it can."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    controls = any(ord(character) < 32 or 127 <= ord(character) < 160 for character in path)
    return "its name contains control characters" if controls else ""
