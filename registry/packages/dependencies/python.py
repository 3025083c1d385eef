"""Python: the PEP 723 block of a script, and requirements.txt beside SKILL.md or in scripts/."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Written
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop, problem

MOST = 100  # requirements of a package
_FILE_BYTES, _BLOCK_BYTES = 65_536, 32_768  # the blocks of all scripts together
_HEAD_BYTES, _HEADS_BYTES = 262_144, 2_097_152  # of a script, of all: in which blocks are looked for
_MOST_DOTS = 1000  # of a block: tomllib takes the square of a key's parts
_LISTS = ("requirements.txt", "scripts/requirements.txt")
_BEGIN = re.compile(r"# /// [a-zA-Z0-9-]+")
_COMMENT = re.compile(r"(^|(?<=\s))#.*$")
_HASH = re.compile(r"\s--hash=(sha256:[0-9a-f]{64})(?=\s|$)")
_OPTION = re.compile(r"(^|\s)-{1,2}[A-Za-z]")
_ELSEWHERE = re.compile(r"(^|[\s@])([a-z][a-z0-9+.-]*:|git@|[.~])|[/\\]", re.IGNORECASE)


@dataclass(frozen=True)
class Requirement:
    """One requirement as it is given to the resolver: nothing but a name, extras, versions, a marker."""

    text: str
    hashes: tuple[str, ...] = ()  # "sha256:…", where the author pinned them

    @property
    def line(self) -> str:
        return " ".join([self.text, *(f"--hash={each}" for each in self.hashes)])


@dataclass(frozen=True)
class Python:
    requirements: tuple[Requirement, ...] = ()
    requires_python: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Line:
    path: str
    number: int
    text: str


def read_python(files: Sequence[PackageFile]) -> Python:
    """Every script's together: a version has one environment."""
    scripts = [file for file in files if file.path.endswith(".py") and _is_script(file.path)]
    if not scripts:
        return Python()
    lines: list[_Line] = []
    problems: list[Problem] = []
    wanted: list[str] = []
    for file in files:
        if file.path in _LISTS:
            lines += _listed(file, problems)
    lines += _of_blocks(scripts, wanted, problems)
    found: dict[str, Requirement] = {}
    for line in lines:
        read = _read(line)
        if isinstance(read, Problem):
            problems.append(read)
        elif read:
            found.setdefault(read.line, read)
    if len(found) > MOST:
        problems.append(problem("DEPENDENCIES_TOO_MANY", path=lines[0].path, count=len(found), limit=MOST))
    return Python(tuple(found[key] for key in sorted(found)), tuple(sorted(set(wanted))), tuple(problems))


def _is_script(path: str) -> bool:
    return path.startswith("scripts/") or "/.claude/skills/" in f"/{path}"


def _listed(file: PackageFile, problems: list[Problem]) -> list[_Line]:
    """The logical lines of a requirements file, continued ones joined."""
    text = _text(file, _FILE_BYTES, problems)
    lines: list[_Line] = []
    begun, parts = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        comment = _COMMENT.search(line)
        bare = line[: comment.start()].rstrip() if comment else line
        if bare.endswith("\\"):
            parts += bare[:-1] + " "
            continue
        lines.append(_Line(file.path, begun, (parts + bare).strip()))
        begun, parts = 0, ""
    return [*lines, *([_Line(file.path, begun, parts.strip())] if parts else [])]


def _text(file: PackageFile, most: int, problems: list[Problem]) -> str:
    if len(file.data) > most:
        problems.append(problem("DEPENDENCY_FILE_LARGE", path=file.path, limit=most))
        return ""
    return file.data.decode("utf-8-sig", "replace")


def _of_blocks(scripts: Sequence[PackageFile], wanted: list[str], problems: list[Problem]) -> Iterator[_Line]:
    heads = blocks = 0
    for script in scripts:
        head = script.data[:_HEAD_BYTES]
        if b"# /// script" not in head:
            continue
        heads += len(head)
        text = head.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        found = list(_found(text.split("\n"))) if heads <= _HEADS_BYTES else []
        blocks += sum(len(content) for _, content in found)
        if heads > _HEADS_BYTES or blocks > _BLOCK_BYTES:
            problems.append(problem("DEPENDENCY_FILE_LARGE", path=script.path, limit=_BLOCK_BYTES))
            return
        yield from _of_block(script.path, found, wanted, problems)


def _of_block(
    path: str, found: Sequence[tuple[int, str]], wanted: list[str], problems: list[Problem]
) -> Iterator[_Line]:
    """The one block of a script; a second is an error by the specification."""
    for start, content in found[:1]:
        document = _document(content) if len(found) == 1 else None
        if document is None:
            problems.append(_invalid(_Line(path, start, "# /// script"), _NO_BLOCK))
            return
        wanted += _python_asked(document, _Line(path, start, "requires-python"), problems)
        for each in document.get("dependencies", ()):
            at = content.partition(each)[0].count("\n") if each in content else -1
            yield _Line(path, start + at + 1, each)


def _found(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The number of its first line and the content of each ``script`` block.

    Read line by line: the expression of PEP 723 takes a minute for a script that begins many and ends none.
    """
    for is_comment, rows in groupby(enumerate(lines, 1), lambda row: row[1] == "#" or row[1][:2] == "# "):
        numbers, told = zip(*rows, strict=True)
        begun = next((at for at, line in enumerate(told) if _BEGIN.fullmatch(line)), len(told))
        ended = max((at for at, line in enumerate(told) if line == "# ///"), default=0)
        if is_comment and ended > begun + 1 and told[begun] == "# /// script":
            yield numbers[begun], "\n".join(told[begun + 1 : ended])


_NO_BLOCK = gettext_noop("the block is not TOML with a list of dependencies")
_NO_VERSIONS = gettext_noop("it is no list of Python versions")
_NO_REQUIREMENT = gettext_noop("it is no name with versions")


def _document(content: str) -> dict[str, Any] | None:
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in content.splitlines())
    try:
        document = tomllib.loads("\n".join(lines)) if content.count(".") <= _MOST_DOTS else None
    except (ValueError, RecursionError):  # of TOML's own, and of a number of thousands of digits
        document = None
    if document is None:
        return None
    named = document.get("dependencies", [])
    is_list = isinstance(named, list) and all(isinstance(each, str) for each in named)
    return document if is_list else None


def _python_asked(document: dict[str, Any], line: _Line, problems: list[Problem]) -> list[str]:
    asked = document.get("requires-python")
    if asked is None:
        return []
    try:
        return [str(SpecifierSet(asked if isinstance(asked, str) else "?"))]
    except InvalidSpecifier:
        problems.append(_invalid(line, _NO_VERSIONS))
        return []


def _read(line: _Line) -> Requirement | Problem | None:
    """The requirement of a line, why it is refused, or None where the line says nothing."""
    hashes = tuple(_HASH.findall(line.text))
    text = _HASH.sub("", line.text).strip()
    if not text:
        return None
    if _OPTION.search(text):
        return _refused("DEPENDENCY_OPTION", line)
    if _ELSEWHERE.search(text.partition(";")[0]):
        return _refused("DEPENDENCY_ELSEWHERE", line)
    try:
        written = Written(text)
    except (InvalidRequirement, RecursionError):
        return _invalid(line, _NO_REQUIREMENT)
    if written.url:
        return _refused("DEPENDENCY_ELSEWHERE", line)
    written.name = canonicalize_name(written.name)
    return Requirement(str(written), hashes)


def _refused(code: str, line: _Line) -> Problem:
    return problem(code, path=line.path, line=line.number, text=ascii(line.text[:120])[1:-1])


def _invalid(line: _Line, reason: str) -> Problem:
    text = ascii(line.text[:120])[1:-1]
    return problem("DEPENDENCY_INVALID", path=line.path, line=line.number, text=text, reason=reason)
