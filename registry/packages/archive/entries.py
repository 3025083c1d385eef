"""The entry type that the readers of zips, tars and folders return, and names of types that they refuse."""

import stat
from dataclasses import dataclass

from registry.packages.problems import LazyMessage, gettext_noop

CHARACTER_DEVICE = LazyMessage(gettext_noop("character device"))
BLOCK_DEVICE = LazyMessage(gettext_noop("block device"))
FIFO = LazyMessage(gettext_noop("named pipe"))
SOCKET = LazyMessage(gettext_noop("socket"))
_KINDS = {
    stat.S_IFCHR: CHARACTER_DEVICE,
    stat.S_IFBLK: BLOCK_DEVICE,
    stat.S_IFIFO: FIFO,
    stat.S_IFSOCK: SOCKET,
}


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


def special_kind(mode: int) -> str:
    """The type of a file that is neither a regular file nor a folder, for messages; octal if unknown."""
    kind = stat.S_IFMT(mode)
    return _KINDS.get(kind, f"{kind:#o}")
