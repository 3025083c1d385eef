"""Reads SKILL.md into front matter and body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registry.packages import errors
from registry.packages.archive.paths import printable
from registry.packages.authoring.metadata_fields import restore_fields
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import KeyPath, YamlReader
from registry.packages.problems import LazyMessage, Problem, Refusal, gettext_noop

SKILL_MD = "SKILL.md"
TEXT_FIELDS = frozenset(
    {("name",), ("displayName",), ("display_name",), ("description",), ("version",), ("metadata", "version")}
)
_NEW_LINE = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"^(?P<indent>[ ]*(?:- )?)(?P<name>[A-Za-z_][\w.-]*):[ \t]+(?P<value>\S.*)$")
_TOP_LEVEL_FIELD = re.compile(r"[^\s#\[\]{}&*!|>%@`,?:'\"-][^:]*:(?:[ \t]|$)")
_MAX_FIELDS = 200  # fields of broken front matter that are read one by one
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(#.*)?""")


@dataclass(frozen=True)
class FrontMatter:
    """The values of the front matter, the line of each value by key path, and the body of SKILL.md.

    This type is also used for the fields of METADATA.yml.
    """

    values: Mapping[str, Any]
    body: str
    body_line: int = 1  # the line of SKILL.md where the body begins
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    header: str = ""  # the YAML that the values were read from, with quotes added if needed
    header_line: int = 2  # the line of SKILL.md where the header begins
    path: str = SKILL_MD
    # the fields from METADATA.yml, which are also included in values
    legacy_metadata: FrontMatter | None = None
    unread: frozenset[str] = frozenset()  # names of fields that are present but unreadable

    @property
    def is_broken(self) -> bool:
        """Whether the front matter could not be read completely."""
        return any(found.severity == "error" for found in self.problems)

    def line(self, *key_path: str) -> int | None:
        """The line of the value at this key path, or of the nearest enclosing value; None if unknown."""
        while key_path and key_path not in self.lines:
            key_path = key_path[:-1]
        return self.lines.get(key_path) if key_path else None

    def at(self, *key_path: str) -> tuple[str, int | None]:
        """The path of the file that sets the value at this key path, and the line as returned by ``line``."""
        if self.legacy_metadata and key_path and key_path[0] in self.legacy_metadata.values:
            return self.legacy_metadata.at(*key_path)
        return self.path, self.line(*key_path)


def read_skill_md(data: bytes, limits: Limits) -> FrontMatter:
    """Reads SKILL.md. Raises Refusal if the file is too large, not UTF-8 or contains a null character.

    Missing or broken front matter does not raise; it only adds to ``problems``.
    """
    text = _decode(data, limits)
    lines = enumerate(_split(text))
    opening, line, start = next(((n, line, end) for n, (line, end) in lines if line.strip()), (0, "", 0))
    if line.rstrip() != "---":
        return FrontMatter({}, text, problems=(errors.FRONT_MATTER_MISSING.problem().at(SKILL_MD, 1),))
    before = start
    for closing, (line, end) in lines:  # noqa: B007  (used below)
        if line.rstrip() in ("---", "..."):
            break
        before = end
    else:
        found = errors.FRONT_MATTER_UNCLOSED.problem().at(SKILL_MD, opening + 1)
        return FrontMatter({}, text, problems=(found,))
    header, body = text[start:before], text[end:]
    try:
        values, lines_of, problems, header = _read_values(header, opening + 2, limits)
    except Refusal as refused:
        return replace(
            _read_field_by_field(header, opening + 2, refused, limits), body=body, body_line=closing + 2
        )
    values, lines_of = restore_fields(values, lines_of, limits)
    return FrontMatter(values, body, closing + 2, lines_of, problems, header, opening + 2)


def _decode(data: bytes, limits: Limits) -> str:
    if len(data) > limits.skill_md:
        raise errors.SKILL_TOO_LARGE.refusal(limit=limits.skill_md).at(SKILL_MD)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = LazyMessage(gettext_noop("byte %(number)s"), number=error.start)
        raise errors.SKILL_NOT_TEXT.refusal(reason=reason).at(SKILL_MD, line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise errors.TEXT_NOT_STORABLE.refusal(character="U+0000").at(SKILL_MD, line)
    return text


def _split(text: str) -> Iterator[tuple[str, int]]:
    """Yields each line without its line ending, and the offset at which the next line starts."""
    position = 0
    for match in _NEW_LINE.finditer(text):
        yield text[position : match.start()], match.end()
        position = match.end()
    yield text[position:], len(text)


def _read_values(
    header: str, first_line: int, limits: Limits
) -> tuple[Mapping[str, Any], Mapping[KeyPath, int], tuple[Problem, ...], str]:
    if len(header.encode()) > limits.front_matter:
        raise errors.FRONT_MATTER_TOO_LARGE.refusal(limit=limits.front_matter).at(SKILL_MD, first_line)
    reader = YamlReader(limits, SKILL_MD, first_line, TEXT_FIELDS)
    notices: tuple[Problem, ...] = ()
    try:
        values = reader.read(header)
    except Refusal as refused:
        if refused.code != errors.FRONT_MATTER_INVALID.name:
            raise
        header, notices = _quote_values(header, first_line, limits)
        if not notices:
            raise
        reader = YamlReader(limits, SKILL_MD, first_line, TEXT_FIELDS)
        try:
            values = reader.read(header)
        except Refusal:
            raise refused from None
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise errors.FRONT_MATTER_NOT_FIELDS.refusal().at(SKILL_MD, first_line)
    return values, reader.lines, notices, header


def _read_field_by_field(header: str, first_line: int, refused: Refusal, limits: Limits) -> FrontMatter:
    """Reads each top-level field separately, so that one broken field does not hide problems of the others.

    If no single field is broken, or if there are over 200 fields, the result has no values and only the
    problems of ``refused``. Its ``body`` is empty; the caller sets it.
    """
    lines = _NEW_LINE.split(header)
    starts = [index for index, line in enumerate(lines) if _TOP_LEVEL_FIELD.match(line)]
    values: dict[str, Any] = {}
    lines_of: dict[KeyPath, int] = {}
    problems: list[Problem] = []
    for start, end in (
        zip(starts, [*starts[1:], len(lines)], strict=False) if len(starts) <= _MAX_FIELDS else ()
    ):
        name, line = lines[start].partition(":")[0].strip(), first_line + start
        try:
            field_values, field_lines, notices, _ = _read_values("\n".join(lines[start:end]), line, limits)
        except Refusal as flaw:
            problems += flaw.problems
            continue
        if name in values:
            first = lines_of[(name,)]
            problems.append(
                errors.FRONT_MATTER_DUPLICATE.problem(field=printable(name), first=first).at(SKILL_MD, line)
            )
        values, lines_of = {**field_values, **values}, {**field_lines, **lines_of}
        problems += notices
    if not any(one.severity == "error" for one in problems):
        return FrontMatter({}, "", problems=refused.problems)
    unread = {lines[start].partition(":")[0].strip() for start in starts} - values.keys()
    return FrontMatter(
        values, "", lines=lines_of, problems=tuple(problems[:_MAX_FIELDS]), unread=frozenset(unread)
    )


def _quote_values(header: str, first_line: int, limits: Limits) -> tuple[str, tuple[Problem, ...]]:
    """The header with quotes around values that YAML can't read, and a notice for each of these values."""
    lines = _NEW_LINE.split(header)
    notices = []
    index = 0
    while index < len(lines):
        match = _FIELD.match(lines[index].rstrip())
        end = _end_of_value(lines, index, match) if match else index + 1
        if match and _needs_quotes(match["value"], limits):
            quoted = "'" + match["value"].replace("'", "''")
            rest = [line.replace("'", "''") for line in lines[index + 1 : end]]
            block = [f"{match['indent']}{match['name']}: {quoted}", *rest]
            block[-1] += "'"
            lines[index:end] = block
            notices.append(
                errors.FRONT_MATTER_QUOTED.problem(field=printable(match["name"])).at(
                    SKILL_MD, first_line + index
                )
            )
        index = end
    return "\n".join(lines), tuple(notices)


def _end_of_value(lines: list[str], index: int, match: re.Match[str]) -> int:
    """The index of the line after the value that starts at ``index``.

    Indented lines continue every value; empty lines continue only a block scalar (``|`` or ``>``).
    """
    indent, in_block = len(match["indent"]), match["value"][0] in "|>"
    end = index + 1
    while end < len(lines):
        text = lines[end].lstrip(" ")
        if (text and len(lines[end]) - len(text) <= indent) or not (text or in_block):
            break
        end += 1
    return end


def _needs_quotes(value: str, limits: Limits) -> bool:
    if value[0] in "|>" or _QUOTED.fullmatch(value):
        return False
    if value[0] in "[{" and value.count(value[0]) > value.count("]" if value[0] == "[" else "}"):
        return False  # the value continues on the next line
    try:
        return isinstance(YamlReader(limits).read(value), dict) and value[0] != "{"
    except Refusal:
        return True
