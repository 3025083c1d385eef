"""Text of a package changed by hand: the files that come of it, and the number that they get."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from semver import Version

from registry.packages.frontmatter import SKILL_MD, FrontMatter, read_skill_md
from registry.packages.limits import Limits
from registry.packages.package import Manifest, PackageFile
from registry.packages.problems import Refused

Step = Literal["patch", "minor", "major"]
STEPS: tuple[Step, ...] = ("patch", "minor", "major")
_NEW_LINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Edits:
    """``texts`` by path; an added path that is there already is left for the gate to refuse."""

    texts: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    gone: frozenset[str] = frozenset()


def edited(files: Iterable[PackageFile], edits: Edits) -> tuple[PackageFile, ...]:
    """The files after the edits; one whose text is the same but for its line ends keeps its bytes."""
    texts = dict(edits.texts)
    kept = [
        replace(file, data=_bytes(file.data, texts[file.path])) if file.path in texts else file
        for file in files
        if file.path not in edits.gone
    ]
    added = [(path, as_unix(text).encode()) for path, text in edits.added]
    return (*kept, *(PackageFile(path, data, data.startswith(b"#!")) for path, data in added))


def as_unix(text: str) -> str:
    return _NEW_LINE.sub("\n", text)


def text_of(data: bytes) -> str:
    """The text that an editor shows."""
    return data.decode("utf-8-sig")


def _bytes(before: bytes, text: str) -> bytes:
    old, new = text_of(before), as_unix(text)
    if as_unix(old) == new:
        return before
    ends = "\r\n" if "\r\n" in old else "\n"
    mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    return mark + new.replace("\n", ends).encode()


def next_number(number: str, step: Step) -> str:
    """``1.2.3`` → 1.2.4, 1.3.0 or 2.0.0; a pre-release becomes what it was before."""
    return str(Version.parse(number).next_version(step))


def numbered(
    files: tuple[PackageFile, ...], manifest: Manifest, number: str, limits: Limits
) -> tuple[PackageFile, ...]:
    """The files with another number on the line of SKILL.md that says it."""
    written = manifest.version_as_written or ""
    return tuple(
        replace(file, data=_numbered(file.data, written, number, limits)) if file.path == SKILL_MD else file
        for file in files
    )


def _numbered(data: bytes, written: str, number: str, limits: Limits) -> bytes:
    front = _front(data, limits)
    line = (front.line("version") or front.line("metadata", "version")) if front else None
    lines = data.decode("utf-8").split("\n") if front else []
    if line is None or line > len(lines):
        return data
    name, colon, value = lines[line - 1].partition(":")
    lines[line - 1] = name + colon + value.replace(written, number, 1)
    return "\n".join(lines).encode()


def _front(data: bytes, limits: Limits) -> FrontMatter | None:
    try:
        return read_skill_md(data, limits)
    except Refused:
        return None
