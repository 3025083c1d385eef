"""Output files of a run, opened without believing anything that the run says of them."""

from __future__ import annotations

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
class Collected:
    """An open file of ``size`` bytes (read no more); ``path`` is relative to the folder, with ``/``."""

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
) -> Iterator[Collected]:
    """Regular files below ``job_dir/subfolder``, sorted; each is closed when the next is asked for.

    Left out, with the reason for ``on_skip``: links, hard links, devices, pipes, files of another owner,
    names that are not text, what lies too deep or beyond the caps. Modes are never passed on.
    """
    say = on_skip or (lambda path, reason: None)
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
    for path, descriptor in _files(folder, "", owner, say):
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if count == max_files or used + size > max_bytes:
                say(path, "too many files" if count == max_files else "too many bytes")
                continue
            count, used = count + 1, used + size
            yield Collected(path, size, file)


def _files(
    folder: int, prefix: str, owner: int, say: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    """Opened regular files below the folder, which is closed here."""
    try:
        for name in sorted(os.listdir(folder)):
            path = prefix + name
            if why := _unspeakable(path):
                say(path.encode(errors="replace").decode(), why)
                continue
            kind = _kind(folder, name)
            if stat.S_ISDIR(kind):
                yield from _below(folder, name, path, owner, say)
            elif stat.S_ISREG(kind):
                yield from _file(folder, name, path, owner, say)
            else:
                say(path, "not a regular file")
    finally:
        os.close(folder)


def _below(
    folder: int, name: str, path: str, owner: int, say: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    if path.count("/") >= _DEPTH:
        say(path, "too deep")
        return
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        say(path, error.strerror or "unreadable")
        return
    yield from _files(inner, path + "/", owner, say)


def _file(
    folder: int, name: str, path: str, owner: int, say: Callable[[str, str], None]
) -> Iterator[tuple[str, int]]:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        say(path, error.strerror or "unreadable")
        return
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_uid != owner:
        os.close(descriptor)
        say(path, "hard-linked" if status.st_nlink != 1 else "not the run's own file")
        return
    yield path, descriptor


def _kind(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _unspeakable(path: str) -> str:
    """Why no address or database can carry the path, else ""."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "the name is not UTF-8"
    controls = any(ord(character) < 32 or 127 <= ord(character) < 160 for character in path)
    return "the name holds control characters" if controls else ""
