"""Applies ``.gitignore`` files. As in git, the deepest file with a matching pattern decides."""

import os
from functools import lru_cache
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

_MAX_BYTES = 64 * 1024  # bytes of a .gitignore file that are read


class IgnoreRules:
    """The ignore rules of a folder and its subfolders. If ``is_tracked`` is set, nothing is ignored."""

    def __init__(self, top: Path, *, is_tracked: bool) -> None:
        self.top, self.is_tracked = top, is_tracked
        self._spec = lru_cache(maxsize=None)(_read)

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether a pattern ignores this path itself; False outside the folder. The caller has already
        checked the parent folders.
        """
        if self.is_tracked or not path.is_relative_to(self.top):
            return False
        for folder in path.parents:
            inner = str(PurePosixPath(path.relative_to(folder))) + ("/" if is_folder else "")
            if (is_ignored := self._match(folder, inner)) is not None:
                return is_ignored
            if folder == self.top:
                break
        return False

    def _match(self, folder: Path, inner: str) -> bool | None:
        spec = self._spec(folder / ".gitignore")
        return spec.check_file(inner).include if spec else None


def _read(path: Path) -> GitIgnoreSpec | None:
    try:  # as git does, without following a link
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return GitIgnoreSpec.from_lines(file.read(_MAX_BYTES).decode("utf-8-sig", "replace").splitlines())
    except (OSError, ValueError):  # no such file, a folder, or invalid patterns
        return None
