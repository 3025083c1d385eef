"""SKILL.md → front matter and body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registry.packages.carried import restored
from registry.packages.limits import Limits
from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused, problem, refuse
from registry.packages.yaml_reading import Place, YamlReader

SKILL_MD = "SKILL.md"
TEXT_FIELDS = frozenset(
    {("name",), ("displayName",), ("display_name",), ("description",), ("version",), ("metadata", "version")}
)
_NEW_LINE = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"^(?P<indent>[ ]*(?:- )?)(?P<name>[A-Za-z_][\w.-]*):[ \t]+(?P<value>\S.*)$")
_TOP = re.compile(r"[^\s#\[\]{}&*!|>%@`,?:'\"-][^:]*:(?:[ \t]|$)")
_MOST = 200  # fields that are read one by one
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(#.*)?""")


@dataclass(frozen=True)
class FrontMatter:
    """The typed values, the line of each (by place), and the text below them."""

    values: Mapping[str, Any]
    body: str
    body_line: int = 1  # the line of SKILL.md on which the body begins
    lines: Mapping[Place, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    header: str = ""  # the YAML that the values were read from, mended where that was needed
    header_line: int = 2  # the line of SKILL.md on which it begins
    path: str = SKILL_MD
    beside: FrontMatter | None = None  # what METADATA.yml gave; it is among the values
    unread: frozenset[str] = frozenset()  # fields that are there and could not be read

    @property
    def is_broken(self) -> bool:
        """Whether there is front matter that could not be read."""
        return any(found.severity == "error" for found in self.problems)

    def line(self, *place: str) -> int | None:
        """The line of the value there, or of the nearest that holds it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place) if place else None

    def at(self, *place: str) -> tuple[str, int | None]:
        """The file and the line of the value there."""
        if self.beside and place and place[0] in self.beside.values:
            return self.beside.at(*place)
        return self.path, self.line(*place)


def read_skill_md(data: bytes, limits: Limits) -> FrontMatter:
    """Refuses what is no text; flaws of the front matter are problems of a FrontMatter without values."""
    text = _decode(data, limits)
    lines = list(_split(text))
    opening = next((index for index, (line, _) in enumerate(lines) if line.strip()), None)
    if opening is None or lines[opening][0].rstrip() != "---":
        return FrontMatter({}, text, problems=(problem("FRONT_MATTER_MISSING", path=SKILL_MD, line=1),))
    closing = next(
        (i for i in range(opening + 1, len(lines)) if lines[i][0].rstrip() in ("---", "...")), None
    )
    if closing is None:
        found = problem("FRONT_MATTER_UNCLOSED", path=SKILL_MD, line=opening + 1)
        return FrontMatter({}, text, problems=(found,))
    header = text[lines[opening][1] : lines[closing - 1][1]]
    body = text[lines[closing][1] :]
    try:
        values, places, problems, header = _read_values(header, opening + 2, limits)
    except Refused as refused:
        return replace(_salvaged(header, opening + 2, refused, limits), body=body, body_line=closing + 2)
    values, places = restored(values, places, limits)
    return FrontMatter(values, body, closing + 2, places, problems, header, opening + 2)


def _decode(data: bytes, limits: Limits) -> str:
    if len(data) > limits.skill_md:
        raise refuse("SKILL_TOO_LARGE", path=SKILL_MD, limit=limits.skill_md)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refuse("SKILL_NOT_TEXT", path=SKILL_MD, line=line, reason=f"byte {error.start}") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise refuse("TEXT_NOT_STORABLE", path=SKILL_MD, line=line, character="U+0000")
    return text


def _split(text: str) -> Iterator[tuple[str, int]]:
    """Each line without its end, and where the next one begins."""
    position = 0
    for match in _NEW_LINE.finditer(text):
        yield text[position : match.start()], match.end()
        position = match.end()
    yield text[position:], len(text)


def _read_values(
    header: str, first_line: int, limits: Limits
) -> tuple[Mapping[str, Any], Mapping[Place, int], tuple[Problem, ...], str]:
    if len(header.encode()) > limits.front_matter:
        raise refuse("FRONT_MATTER_TOO_LARGE", path=SKILL_MD, line=first_line, limit=limits.front_matter)
    reader = YamlReader(limits, SKILL_MD, first_line, TEXT_FIELDS)
    notices: tuple[Problem, ...] = ()
    try:
        values = reader.read(header)
    except Refused as refused:
        if refused.code != "FRONT_MATTER_INVALID":
            raise
        header, notices = _quote_values(header, first_line, limits)
        if not notices:
            raise
        reader = YamlReader(limits, SKILL_MD, first_line, TEXT_FIELDS)
        try:
            values = reader.read(header)
        except Refused:
            raise refused from None
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise refuse("FRONT_MATTER_NOT_FIELDS", path=SKILL_MD, line=first_line)
    return values, reader.lines, notices, header


def _salvaged(header: str, first_line: int, refused: Refused, limits: Limits) -> FrontMatter:
    """What can be read field by field, so that one flaw does not hide the others."""
    lines = _NEW_LINE.split(header)
    starts = [index for index, line in enumerate(lines) if _TOP.match(line)]
    values: dict[str, Any] = {}
    places: dict[Place, int] = {}
    problems: list[Problem] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False) if len(starts) <= _MOST else ():
        name, line = lines[start].partition(":")[0].strip(), first_line + start
        try:
            found, at, notices, _ = _read_values("\n".join(lines[start:end]), line, limits)
        except Refused as flaw:
            problems += flaw.problems
            continue
        if name in values:
            first = places[(name,)]
            problems.append(
                problem("FRONT_MATTER_DUPLICATE", path=SKILL_MD, line=line, field=shown(name), first=first)
            )
        values, places = {**found, **values}, {**at, **places}
        problems += notices
    if not any(one.severity == "error" for one in problems):
        return FrontMatter({}, "", problems=refused.problems)
    unread = {lines[start].partition(":")[0].strip() for start in starts} - values.keys()
    return FrontMatter(values, "", lines=places, problems=tuple(problems[:_MOST]), unread=frozenset(unread))


def _quote_values(header: str, first_line: int, limits: Limits) -> tuple[str, tuple[Problem, ...]]:
    """The same lines, values that YAML cannot read put into quotes, with a notice for each."""
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
                problem(
                    "FRONT_MATTER_QUOTED", path=SKILL_MD, line=first_line + index, field=shown(match["name"])
                )
            )
        index = end
    return "\n".join(lines), tuple(notices)


def _end_of_value(lines: list[str], index: int, match: re.Match[str]) -> int:
    """The line after a value's last: more indented lines go on with it, empty ones only in a block."""
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
        return False  # goes on in the next line
    try:
        return isinstance(YamlReader(limits).read(value), dict) and value[0] != "{"
    except Refused:
        return True
