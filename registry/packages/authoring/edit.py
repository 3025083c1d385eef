"""Applies edits to the text files of a package and sets its version number."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from semver import Version

from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter, read_skill_md
from registry.packages.package import Manifest, PackageFile
from registry.packages.problems import Refusal

VersionStep = Literal["patch", "minor", "major"]
VERSION_STEPS: tuple[VersionStep, ...] = ("patch", "minor", "major")
_NEW_LINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class PackageEdits:
    """Changed and added texts as pairs of path and text, and removed paths. Adding a path that exists already
    raises Refusal when the edited package is read.
    """

    texts: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    removed: frozenset[str] = frozenset()


def edit_files(files: Iterable[PackageFile], edits: PackageEdits) -> tuple[PackageFile, ...]:
    """The files after the edits. A file whose text differs only in line endings keeps its bytes."""
    texts = dict(edits.texts)
    remaining = [
        replace(file, data=_encode(file.data, texts[file.path])) if file.path in texts else file
        for file in files
        if file.path not in edits.removed
    ]
    added = [(path, normalize_newlines(text).encode()) for path, text in edits.added]
    return (*remaining, *(PackageFile(path, data, data.startswith(b"#!")) for path, data in added))


def normalize_newlines(text: str) -> str:
    return _NEW_LINE.sub("\n", text)


def text_of(data: bytes) -> str:
    """The text of a UTF-8 file without its byte order mark. Raises UnicodeDecodeError."""
    return data.decode("utf-8-sig")


def _encode(before: bytes, text: str) -> bytes:
    old, new = text_of(before), normalize_newlines(text)
    if normalize_newlines(old) == new:
        return before
    ends = "\r\n" if "\r\n" in old else "\n"
    bom = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    return bom + new.replace("\n", ends).encode()


def next_version(number: str, step: VersionStep) -> str:
    """The number one ``step`` later: 1.2.3 → 1.2.4, 1.3.0 or 2.0.0. A pre-release becomes its release."""
    return str(Version.parse(number).next_version(step))


def set_version(
    files: tuple[PackageFile, ...], manifest: Manifest, number: str, limits: Limits
) -> tuple[PackageFile, ...]:
    """The files with ``number`` as the version in SKILL.md; unchanged if SKILL.md states no version."""
    written = manifest.version_as_written or ""
    return tuple(
        replace(file, data=_replace_version(file.data, written, number, limits))
        if file.path == SKILL_MD
        else file
        for file in files
    )


def _replace_version(data: bytes, written: str, number: str, limits: Limits) -> bytes:
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
    except Refusal:
        return None
