"""The type of entries that the readers of zips, tars and folders return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ArchiveEntry:
    """A regular file, or a folder (``data`` is None). ``path`` has no trailing ``/``.

    ``link`` is the target of a symbolic link; only readers called with ``with_links`` return links.
    """

    path: str
    data: bytes | None
    executable: bool = False
    link: str = ""

    @property
    def is_folder(self) -> bool:
        return self.data is None
