"""The rules for paths in a package, so that it unpacks to the same tree on every system."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from registry.packages import errors
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.limits import Limits
from registry.packages.problems import LazyMessage, Problem, gettext_noop

MAX_PRINTABLE = 200
MAX_NAME_BYTES = 255  # per path segment; the limit of ext4, APFS and NTFS
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f]"
    r"|[\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
    # Joiners and variation selectors are normal next to letters of some scripts, and in emoji.
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    r"|(?<![^\x00-\x7f])[\ufe00-\ufe0f\U000e0100-\U000e01ef](?!\u20e3)"
)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)")
_JUNK_PARTS = frozenset(
    {"__macosx", ".ds_store", ".git", ".svn", ".hg", ".idea", ".vscode", "__pycache__"}
    | {"thumbs.db", "desktop.ini", ".spotlight-v100", ".trashes", ".fseventsd"}
)
_JUNK_NAME = re.compile(r"^(\._.*|.*~|\.#.*|#.*#|\..*\.sw[a-p])$")


def printable(text: str, limit: int = MAX_PRINTABLE) -> str:
    """Untrusted text made safe for messages: cut after ``limit`` characters, unprintable ones escaped."""
    if len(text) <= limit and text.isprintable():
        return text
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return clean + "…" if len(text) > limit else clean


def is_junk(path: str) -> bool:
    """Whether the file is a by-product of an operating system, version control, Python or an editor."""
    parts = path.split("/")
    return any(part.lower() in _JUNK_PARTS for part in parts) or bool(_JUNK_NAME.match(parts[-1]))


def collision_key(path: str) -> str:
    """A key that is equal for two paths if some file system treats them as the same path."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def normalize_path(path: str) -> str:
    """The path in NFC, without the leading ``./`` that ``tar czf x.tgz .`` writes."""
    path = path.removeprefix("./")
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def path_problem(path: str, limits: Limits) -> Problem | None:
    """The problem for the first rule that the path breaks, or None."""
    problem = _broken_rule(path, limits)
    return problem.at(printable(path)) if problem else None


def _broken_rule(path: str, limits: Limits) -> Problem | None:
    if len(path) > limits.path_characters:
        text = gettext_noop("%(length)s characters; the maximum is %(limit)s")
        excess = LazyMessage(text, length=len(path), limit=limits.path_characters)
        return errors.PATH_TOO_LONG.problem(reason=excess)
    parts = path.split("/")
    if len(parts) - 1 > limits.path_depth:
        return errors.PATH_TOO_DEEP.problem(limit=limits.path_depth)
    if reason := _unsafe_reason(path, parts):
        return errors.PATH_UNSAFE.problem(reason=reason)
    if reason := _unstorable_reason(path, parts):
        return errors.PATH_CHARACTERS.problem(reason=reason)
    if not path.isascii() and (invisible := _INVISIBLE.search(path)):
        return errors.PATH_INVISIBLE.problem(character=f"U+{ord(invisible.group()):04X}")
    for part in parts:
        if _DEVICES.match(part.lower()):
            return errors.PATH_RESERVED.problem(name=printable(part))
        if (length := len(part.encode("utf-8"))) > MAX_NAME_BYTES:
            text = gettext_noop("the name %(name)s has %(length)s bytes; the maximum is %(limit)s")
            excess = LazyMessage(text, name=printable(part), length=length, limit=MAX_NAME_BYTES)
            return errors.PATH_TOO_LONG.problem(reason=excess)
    return None


def _unsafe_reason(path: str, parts: list[str]) -> str:
    if path.startswith("/"):
        return gettext_noop("it is an absolute path")
    if "\\" in path:
        return gettext_noop("it contains a backslash")
    if re.match(r"[A-Za-z]:", path):
        return gettext_noop("it contains a drive letter")
    if ".." in parts:
        return gettext_noop('it contains a ".." part')
    if "" in parts or "." in parts:
        return gettext_noop("it contains a part that is empty or a single dot")
    return ""


def _unstorable_reason(path: str, parts: list[str]) -> str:
    if not path.isprintable() and any(unicodedata.category(c) in ("Cc", "Cs") for c in path):
        return gettext_noop("a control character")
    if match := _FORBIDDEN.search(path):
        return match.group()
    if any(part.endswith((".", " ")) for part in parts):
        return gettext_noop("a trailing dot or space")
    return ""


def check_paths(entries: Iterable[ArchiveEntry], limits: Limits) -> tuple[Problem, ...]:
    """The problems of paths that break a rule or clash with an earlier path, at most one per path."""
    return tuple(flaw for _, flaw in check_each_path(entries, limits) if flaw)


def check_each_path(
    entries: Iterable[ArchiveEntry], limits: Limits
) -> Iterator[tuple[ArchiveEntry, Problem | None]]:
    """Yields each entry with the problem of its path, or None."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for entry in entries:
        yield entry, path_problem(entry.path, limits) or _find_clash(entry, files, folders)


def _find_clash(entry: ArchiveEntry, files: dict[str, str], folders: dict[str, str]) -> Problem | None:
    """The problem if the path clashes with an earlier one. Otherwise, records the path and returns None.

    A folder may appear several times.
    """
    own = collision_key(entry.path)
    other = files.get(own) or (None if entry.is_folder else folders.get(own))
    parent = own
    while not other and "/" in parent:
        parent = parent.rpartition("/")[0]
        if parent in folders:
            break
        other = files.get(parent)
        folders[parent] = entry.path
    if other:
        return errors.PATH_CLASH.problem(other=printable(other)).at(printable(entry.path))
    (folders if entry.is_folder else files)[own] = entry.path
    return None
