"""What ``.gitignore`` files say, as git reads them: the deepest one that speaks of a path decides."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

_MOST = 64 * 1024  # bytes of one file that are read


class Ignoring:
    """The files below one folder; a checkout or an archive, which holds what is tracked, ignores nothing."""

    def __init__(self, top: Path, *, is_tracked: bool) -> None:
        self.top, self.is_tracked = top, is_tracked
        self._spec = lru_cache(maxsize=None)(_read)

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether git would leave out this path; its folders are taken to have been asked for before."""
        if self.is_tracked or not path.is_relative_to(self.top):
            return False
        for folder in path.parents:
            inner = str(PurePosixPath(path.relative_to(folder))) + ("/" if is_folder else "")
            if (said := self._says(folder, inner)) is not None:
                return said
            if folder == self.top:
                break
        return False

    def _says(self, folder: Path, inner: str) -> bool | None:
        spec = self._spec(folder / ".gitignore")
        return spec.check_file(inner).include if spec else None


def _read(path: Path) -> GitIgnoreSpec | None:
    try:
        with path.open("rb") as file:
            return GitIgnoreSpec.from_lines(file.read(_MOST).decode("utf-8-sig", "replace").splitlines())
    except (OSError, ValueError):  # absent, a folder, or no patterns
        return None
