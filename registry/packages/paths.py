"""Which paths a package may hold, so that it unpacks to the same tree on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from registry.packages.entries import Entry
from registry.packages.limits import Limits
from registry.packages.problems import Problem, gettext_noop, problem

SHOWN_CHARACTERS = 200
NAME_BYTES = 255  # of one part: what ext4, APFS and NTFS can store
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)")
_JUNK_PARTS = frozenset(
    {"__macosx", ".ds_store", ".git", ".svn", ".hg", ".idea", ".vscode", "__pycache__"}
    | {"thumbs.db", "desktop.ini", ".spotlight-v100", ".trashes", ".fseventsd"}
)
_JUNK_NAME = re.compile(r"^(\._.*|.*~|\.#.*|#.*#|\..*\.sw[a-p])$")


def shown(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """A stranger's text as a place or in a message: short, and without what terminals or databases obey."""
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return clean + "…" if len(text) > limit else clean


def is_junk(path: str) -> bool:
    """Whether Finder, Windows, git or an editor left this behind."""
    parts = path.split("/")
    return any(part.lower() in _JUNK_PARTS for part in parts) or bool(_JUNK_NAME.match(parts[-1]))


def key(path: str) -> str:
    """Equal for paths that are one path on some file system."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def plain(path: str) -> str:
    """The path in NFC without a leading ``./``, as ``tar czf x.tgz .`` writes it."""
    path = path.removeprefix("./")
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def path_problem(path: str, limits: Limits) -> Problem | None:
    """The first rule that this path breaks."""
    place = shown(path)
    if len(path) > limits.path_characters:
        return problem("PATH_TOO_LONG", path=place, reason=f"{len(path)} > {limits.path_characters}")
    parts = path.split("/")
    if len(parts) - 1 > limits.path_depth:
        return problem("PATH_TOO_DEEP", path=place, limit=limits.path_depth)
    if reason := _unsafe(path, parts):
        return problem("PATH_UNSAFE", path=place, reason=reason)
    if reason := _unstorable(path, parts):
        return problem("PATH_CHARACTERS", path=place, reason=reason)
    for part in parts:
        if _DEVICES.match(part.lower()):
            return problem("PATH_RESERVED", path=place, name=shown(part))
        if len(part.encode("utf-8")) > NAME_BYTES:
            return problem("PATH_TOO_LONG", path=place, reason=f"{shown(part)} > {NAME_BYTES} bytes")
    return None


def _unsafe(path: str, parts: list[str]) -> str:
    if path.startswith("/"):
        return gettext_noop("it is absolute")
    if "\\" in path:
        return gettext_noop("it holds a backslash")
    if re.match(r"[A-Za-z]:", path):
        return gettext_noop("it names a drive")
    if ".." in parts:
        return gettext_noop("it holds ..")
    if "" in parts or "." in parts:
        return gettext_noop("a part of it is empty or a dot")
    return ""


def _unstorable(path: str, parts: list[str]) -> str:
    if not path.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in path):
        return gettext_noop("a control character")
    if match := _FORBIDDEN.search(path):
        return match.group()
    if any(part.endswith((".", " ")) for part in parts):
        return gettext_noop("a trailing dot or space")
    return ""


def check_paths(entries: Iterable[Entry], limits: Limits) -> tuple[Problem, ...]:
    """Every path that breaks a rule, is there twice, or is a file here and a folder there."""
    return tuple(found for _, found in judged_paths(entries, limits) if found)


def judged_paths(entries: Iterable[Entry], limits: Limits) -> Iterator[tuple[Entry, Problem | None]]:
    """Each entry with what is wrong with its path."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for entry in entries:
        yield entry, path_problem(entry.path, limits) or _clash(entry, files, folders)


def _clash(entry: Entry, files: dict[str, str], folders: dict[str, str]) -> Problem | None:
    """Also remembers the entry; folders may be said again, files may not."""
    own = key(entry.path)
    other = files.get(own) or (None if entry.is_folder else folders.get(own))
    parent = own
    while not other and "/" in parent:
        parent = parent.rpartition("/")[0]
        if parent in folders:
            break
        other = files.get(parent)
        folders[parent] = entry.path
    if other:
        return problem("PATH_CLASH", path=shown(entry.path), other=shown(other))
    (folders if entry.is_folder else files)[own] = entry.path
    return None
