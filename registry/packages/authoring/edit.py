"""Applies edits to the text files of a package and sets its version number."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from semver import Version

from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import Package, PackageFile

VersionStep = Literal["patch", "minor", "major"]
VERSION_STEPS: tuple[VersionStep, ...] = ("patch", "minor", "major")
_NEW_LINE = re.compile(r"\r\n|\r|\n")
_MARK = re.compile(rb"(?m)^(?:---|\.\.\.)[ \t]*\r?$")  # opens or closes the front matter


@dataclass(frozen=True)
class PackageEdits:
    """Changed and added texts as pairs of path and text, and removed paths.

    Adding a path that already exists raises Refusal when the edited package is read.
    """

    texts: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    removed: frozenset[str] = frozenset()


def edit_files(files: Iterable[PackageFile], edits: PackageEdits) -> tuple[PackageFile, ...]:
    """The files after the edits. A file whose text differs only in line endings keeps its bytes.

    Changed files keep their kind of line ending and their byte order mark. Raises UnicodeDecodeError if a
    file in ``texts`` is not UTF-8.
    """
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
    """The text of a UTF-8 file without its byte order mark. Raises UnicodeDecodeError for other files."""
    return data.decode("utf-8-sig")


def _encode(before: bytes, text: str) -> bytes:
    old, new = text_of(before), normalize_newlines(text)
    if normalize_newlines(old) == new:
        return before
    ends = "\r\n" if "\r\n" in old else "\n"
    bom = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    return bom + new.replace("\n", ends).encode()


def next_version(number: str, step: VersionStep) -> str:
    """The number one ``step`` later: 1.2.3 → 1.2.4, 1.3.0 or 2.0.0. Raises ValueError for invalid numbers.

    A pre-release can become its own release: 2.0.0-rc.1 → 2.0.0 for every step.
    """
    return str(Version.parse(number).next_version(step))


def set_version_line(
    files: tuple[PackageFile, ...], written: str, number: str
) -> tuple[tuple[PackageFile, ...], int | None]:
    """The files with the first line ``version: written`` of the front matter changed to ``number``, and the
    line number in SKILL.md.

    Prefers a line without indentation. Returns the unchanged files and None if there is no such line. The
    caller must check that the line is the version field.
    """
    skill = next((file for file in files if file.path == SKILL_MD), None)
    if skill is None:
        return files, None
    value = rb"version:[ \t]+(['\"]?)(?P<number>%s)\1(?:[ \t]+#.*|[ \t]*)\r?$" % re.escape(written.encode())
    marks = [mark.start() for mark in islice(_MARK.finditer(skill.data), 2)]
    header = skill.data[: marks[-1]] if len(marks) == 2 else b""
    found = re.search(rb"(?m)^" + value, header) or re.search(rb"(?m)^ +" + value, header)
    if found is None:
        return files, None
    start, end = found.span("number")
    edited = replace(skill, data=skill.data[:start] + number.encode() + skill.data[end:])
    line = skill.data.count(b"\n", 0, start) + 1
    return tuple(edited if file is skill else file for file in files), line


def set_version(files: tuple[PackageFile, ...], package: Package, number: str) -> tuple[PackageFile, ...]:
    """The files with ``number`` as the version in SKILL.md. ``package`` must be the one read from ``files``.

    Unchanged if SKILL.md has no version.
    """
    return tuple(
        replace(file, data=_replace_version(file.data, package, number)) if file.path == SKILL_MD else file
        for file in files
    )


def _replace_version(data: bytes, package: Package, number: str) -> bytes:
    front, written = package.front_matter, package.manifest.version_as_written or ""
    line = (front.line("version") or front.line("metadata", "version")) if front else None
    lines = data.decode("utf-8").split("\n") if front else []
    if line is None or line > len(lines):
        return data
    name, colon, value = lines[line - 1].partition(":")
    lines[line - 1] = name + colon + value.replace(written, number, 1)
    return "\n".join(lines).encode()
