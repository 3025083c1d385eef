"""What an archive holds, whatever its format: the common shape that zip, tar and folders are read into."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A regular file, or a folder (``data`` is None). ``path`` has no ``/`` at its end.

    A symbolic link has a ``link``, where it leads to; only readings that ask for links ever see one.
    """

    path: str
    data: bytes | None
    executable: bool = False
    link: str = ""

    @property
    def is_folder(self) -> bool:
        return self.data is None
