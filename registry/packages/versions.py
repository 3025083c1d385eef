"""Version numbers: semver, forgiving in what is read, exact in what is kept."""

from __future__ import annotations

import re

from semver import Version

LENGTH = 64
FIRST = "0.1.0"
_LOOSE = re.compile(
    r"[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII
)


def parse(text: str) -> Version | None:
    """Strict semver of at most 64 characters, else None."""
    if len(text) > LENGTH or not text.isascii():
        return None
    try:
        return Version.parse(text)
    except ValueError:
        return None


def normalise(text: str) -> str | None:
    """``1.0`` → ``1.0.0``, ``v1.2.3`` → ``1.2.3``, ``2026.01.05`` → ``2026.1.5``; else None."""
    text = text.strip()
    match = _LOOSE.fullmatch(text) if len(text) <= LENGTH else None
    if not match:
        return None
    core = ".".join(str(int(part or 0)) for part in match.groups()[:3])
    pre, build = match[4], match[5]
    version = parse(core + (f"-{pre}" if pre else "") + (f"+{build}" if build else ""))
    return str(version) if version else None


def precedence(text: str) -> str:
    """A string of [0-9a-f] that sorts as semver does, under every collation; build metadata does not count.

    Numbers carry their length before them; other identifiers are hexadecimal, ended by 00. At most 200
    characters.
    """
    version = Version.parse(text)
    core = "".join(_number(part) for part in (version.major, version.minor, version.patch))
    if not version.prerelease:
        return core + "f"
    return core + "0" + "".join(_identifier(part) for part in version.prerelease.split("."))


def _number(value: int) -> str:
    return f"{len(str(value)):02}{value}"


def _identifier(text: str) -> str:
    return "1" + _number(int(text)) if text.isdigit() else "2" + text.encode().hex() + "00"


def next_patch(latest: str | None) -> str:
    """The version of a package that names none: the patch after ``latest``, else the first one."""
    return str(Version.parse(latest).next_version("patch")) if latest else FIRST
