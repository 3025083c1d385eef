"""Parses, converts and orders version numbers. Loose formats are converted to strict semver."""

import re

from semver import Version

MAX_LENGTH = 64
FIRST_VERSION = "0.1.0"
_LOOSE = re.compile(
    r"[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII
)


def parse(text: str) -> Version | None:
    """The parsed version; None if the text is not strict semver or has more than 64 characters."""
    if len(text) > MAX_LENGTH or not text.isascii():
        return None
    try:
        return Version.parse(text)
    except ValueError:
        return None


def normalise(text: str) -> str | None:
    """The text as strict semver: ``1.0`` → ``1.0.0``, ``v1.2.3`` → ``1.2.3``, ``2026.01.05`` → ``2026.1.5``.

    None if the text is not a version number or has more than 64 characters.
    """
    text = text.strip()
    match = _LOOSE.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if not match:
        return None
    core = ".".join(str(int(part or 0)) for part in match.groups()[:3])
    pre, build = match[4], match[5]
    version = parse(core + (f"-{pre}" if pre else "") + (f"+{build}" if build else ""))
    return str(version) if version else None


def precedence(text: str) -> str:
    """A string of [0-9a-f] that sorts like semver under any collation, ignoring build metadata.

    Numbers are prefixed with their length; other identifiers are hexadecimal and end with 00. At most 200
    characters. Raises ValueError if the text is not strict semver.
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
    """The version for a package that states none: the patch after ``latest``, or FIRST_VERSION."""
    return str(Version.parse(latest).next_version("patch")) if latest else FIRST_VERSION
