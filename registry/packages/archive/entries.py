"""The entry type that the readers of zips, tars and folders return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ArchiveEntry:
    """A regular file, a folder (``data`` is None) or a symbolic link to ``link``.

    ``path`` is the path in the archive, without the final ``/`` of a folder. Only readers called with
    ``with_links`` return links.
    """

    path: str
    data: bytes | None
    executable: bool = False
    link: str = ""

    @property
    def is_folder(self) -> bool:
        return self.data is None
