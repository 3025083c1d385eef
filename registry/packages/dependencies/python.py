"""Reads Python requirements from PEP 723 blocks of scripts and from requirements.txt."""

import re
import tomllib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from registry.packages.archive.paths import printable
from registry.packages.dependencies import errors
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop

MAX_REQUIREMENTS = 100  # per package
_FILE_BYTES, _BLOCK_BYTES = 65_536, 32_768  # bytes: per requirements file, and in all blocks
_HEAD_BYTES, _HEADS_BYTES = 262_144, 2_097_152  # bytes searched for blocks: per script, and in all scripts
_MAX_DOTS = 1000  # dots per block, because tomllib needs quadratic time for a key with many parts
_LISTS = ("requirements.txt", "scripts/requirements.txt")  # and those next to programs elsewhere
_BEGIN = re.compile(r"# /// [a-zA-Z0-9-]+")
_COMMENT = re.compile(r"(^|(?<=\s))#.*$")
_HASH = re.compile(r"\s--hash=(sha256:[0-9a-f]{64})(?=\s|$)")
_OPTION = re.compile(r"(^|\s)-{1,2}[A-Za-z]")
_ELSEWHERE = re.compile(r"(^|[\s@])([a-z][a-z0-9+.-]*:|git@|[.~])|[/\\]", re.IGNORECASE)


@dataclass(frozen=True)
class Requirement:
    """A requirement for the resolver. ``text`` has only a name, extras, versions and a marker."""

    text: str
    hashes: tuple[str, ...] = ()  # "sha256:…", if the author pinned them

    @property
    def line(self) -> str:
        return " ".join([self.text, *(f"--hash={each}" for each in self.hashes)])


@dataclass(frozen=True)
class PythonResult:
    requirements: tuple[Requirement, ...] = ()
    requires_python: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Line:
    path: str
    number: int
    text: str


def read_python(files: Sequence[PackageFile], programs: Set[str] = frozenset()) -> PythonResult:
    """The requirements of all Python scripts together, because the scripts of a version share an environment.

    ``programs`` are the paths of scripts outside ``scripts/``.

    Empty if there are no Python scripts. For an invalid line, adds a problem and still returns the other
    requirements.
    """
    python = [file for file in files if file.path.endswith(".py")]
    scripts = [file for file in python if _is_script(file.path) or file.path in programs]
    if not scripts:
        return PythonResult()
    lines: list[_Line] = []
    problems: list[Problem] = []
    python_versions: list[str] = []
    lists = {*_LISTS, *(f"{PurePosixPath(path).parent}/requirements.txt" for path in programs)}
    for file in files:
        if file.path in lists:
            lines += _requirement_lines(file, problems)
    lines += _block_lines(scripts, python_versions, problems)
    requirements: dict[str, Requirement] = {}
    for line in lines:
        parsed = _read(line)
        if isinstance(parsed, Problem):
            problems.append(parsed)
        elif parsed:
            requirements.setdefault(parsed.line, parsed)
    if len(requirements) > MAX_REQUIREMENTS:
        problems.append(
            errors.DEPENDENCIES_TOO_MANY.problem(count=len(requirements), limit=MAX_REQUIREMENTS).at(
                lines[0].path
            )
        )
    return PythonResult(
        tuple(requirements[key] for key in sorted(requirements)),
        tuple(sorted(set(python_versions))),
        tuple(problems),
    )


def _is_script(path: str) -> bool:
    return path.startswith("scripts/") or "/.claude/skills/" in f"/{path}"


def _requirement_lines(file: PackageFile, problems: list[Problem]) -> list[_Line]:
    """The lines of a requirements file, without comments and with continued lines joined.

    If the file is too large, adds a problem and returns no lines.
    """
    text = _text(file, _FILE_BYTES, problems)
    lines: list[_Line] = []
    start, parts = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        start = start or number
        comment = _COMMENT.search(line)
        bare = line[: comment.start()].rstrip() if comment else line
        if bare.endswith("\\"):
            parts += bare[:-1] + " "
            continue
        lines.append(_Line(file.path, start, (parts + bare).strip()))
        start, parts = 0, ""
    return [*lines, *([_Line(file.path, start, parts.strip())] if parts else [])]


def _text(file: PackageFile, limit: int, problems: list[Problem]) -> str:
    if len(file.data) > limit:
        problems.append(errors.DEPENDENCY_FILE_LARGE.problem(limit=limit).at(file.path))
        return ""
    return file.data.decode("utf-8-sig", "replace")


def _block_lines(
    scripts: Sequence[PackageFile], python_versions: list[str], problems: list[Problem]
) -> Iterator[_Line]:
    heads = blocks = 0
    for script in scripts:
        head = script.data[:_HEAD_BYTES]
        if b"# /// script" not in head:
            continue
        heads += len(head)
        text = head.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        script_blocks = list(_find_blocks(text.split("\n"))) if heads <= _HEADS_BYTES else []
        blocks += sum(len(content) for _, content in script_blocks)
        if heads > _HEADS_BYTES or blocks > _BLOCK_BYTES:
            limit = _HEADS_BYTES if heads > _HEADS_BYTES else _BLOCK_BYTES
            problems.append(errors.DEPENDENCY_FILE_LARGE.problem(limit=limit).at(script.path))
            return
        yield from _read_block(script.path, script_blocks, python_versions, problems)


def _read_block(
    path: str, script_blocks: Sequence[tuple[int, str]], python_versions: list[str], problems: list[Problem]
) -> Iterator[_Line]:
    """Yields the dependencies of a script's block, and adds its ``requires-python`` to ``python_versions``.

    For an invalid block, or more than one block, which PEP 723 forbids, adds a problem and yields nothing.
    """
    for start, content in script_blocks[:1]:
        document = _document(content) if len(script_blocks) == 1 else None
        if document is None:
            problems.append(_invalid(_Line(path, start, "# /// script"), _NO_BLOCK))
            return
        python_versions += _read_requires_python(document, _Line(path, start, "requires-python"), problems)
        for each in document.get("dependencies", ()):
            at = content.partition(each)[0].count("\n") if each in content else -1
            yield _Line(path, start + at + 1, each)


def _find_blocks(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the first line number and the content of each ``script`` block.

    Parses line by line, because the regular expression of PEP 723 takes a minute for many unclosed blocks.
    """
    for is_comment, rows in groupby(enumerate(lines, 1), lambda row: row[1] == "#" or row[1][:2] == "# "):
        numbers, text_lines = zip(*rows, strict=True)
        start = next((at for at, line in enumerate(text_lines) if _BEGIN.fullmatch(line)), len(text_lines))
        end = max((at for at, line in enumerate(text_lines) if line == "# ///"), default=0)
        if is_comment and end > start + 1 and text_lines[start] == "# /// script":
            yield numbers[start], "\n".join(text_lines[start + 1 : end])


_NO_BLOCK = gettext_noop(
    "the `# /// script` block is not valid TOML, or its `dependencies` is not a list of strings"
)
_NO_VERSIONS = gettext_noop("it is not a valid Python version specifier")
_NO_REQUIREMENT = gettext_noop("it is not a package name with a version specifier")


def _document(content: str) -> dict[str, Any] | None:
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in content.splitlines())
    try:
        document = tomllib.loads("\n".join(lines)) if content.count(".") <= _MAX_DOTS else None
    except (ValueError, RecursionError):  # TOML errors, and numbers with thousands of digits
        document = None
    if document is None:
        return None
    named = document.get("dependencies", [])
    is_list = isinstance(named, list) and all(isinstance(each, str) for each in named)
    return document if is_list else None


def _read_requires_python(document: dict[str, Any], line: _Line, problems: list[Problem]) -> list[str]:
    specifier = document.get("requires-python")
    if specifier is None:
        return []
    try:
        return [str(SpecifierSet(specifier if isinstance(specifier, str) else "?"))]
    except InvalidSpecifier:
        problems.append(_invalid(line, _NO_VERSIONS))
        return []


def _read(line: _Line) -> Requirement | Problem | None:
    hashes = tuple(_HASH.findall(line.text))
    text = _HASH.sub("", line.text).strip()
    if not text:
        return None
    if _OPTION.search(text):
        return errors.DEPENDENCY_OPTION.problem(text=_quoted(line)).at(line.path, line.number)
    if _ELSEWHERE.search(text.partition(";")[0]):
        return errors.DEPENDENCY_ELSEWHERE.problem(text=_quoted(line)).at(line.path, line.number)
    try:
        written = ParsedRequirement(text)
    except (InvalidRequirement, RecursionError):
        return _invalid(line, _NO_REQUIREMENT)
    if written.url:
        return errors.DEPENDENCY_ELSEWHERE.problem(text=_quoted(line)).at(line.path, line.number)
    written.name = canonicalize_name(written.name)
    return Requirement(str(written), hashes)


def _quoted(line: _Line) -> str:
    return printable(line.text, 120)


def _invalid(line: _Line, reason: str) -> Problem:
    return errors.DEPENDENCY_INVALID.problem(text=_quoted(line), reason=reason).at(line.path, line.number)
