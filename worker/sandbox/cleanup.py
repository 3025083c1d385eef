"""Removes folders that runs wrote to, at any depth and with any file modes; follows no symbolic link."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Removes ``folder`` and everything below it, as far as this user can; raises no OSError.

    Does nothing if ``folder`` is a symbolic link. Moves subfolders to the top before it empties them, so that
    no path gets too long for the kernel. This also avoids recursion and needs only two descriptors.
    """
    with suppress(OSError):
        if folder.is_symlink():
            return
        folder.chmod(0o700)
        top = os.open(folder, _FOLDER)
        try:
            _empty(top)
        finally:
            os.close(top)
        folder.rmdir()


def _empty(top: int) -> None:
    mark = token_hex(8)
    names = (f"{mark}-{number}" for number in count())
    todo = _move_folders_up(top, top, names)
    while todo:
        name = todo.pop()
        folder = os.open(name, _FOLDER, dir_fd=top)
        try:
            todo += _move_folders_up(folder, top, names)
        finally:
            os.close(folder)
        with suppress(OSError):
            os.rmdir(name, dir_fd=top)


def _move_folders_up(folder: int, top: int, names: Iterator[str]) -> list[str]:
    """Deletes the files in ``folder`` and moves its subfolders to ``top``; returns their new names."""
    moved = []
    for entry in list(os.scandir(folder)):
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)
                name = next(names)
                os.rename(entry.name, name, src_dir_fd=folder, dst_dir_fd=top)
                moved.append(name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved
