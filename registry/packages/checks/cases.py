"""Reads ``tests/cases.yaml``: calls of the skill with their expected results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from registry.packages.archive.paths import printable
from registry.packages.checks.errors import CASES_INVALID
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.near_misses import closest
from registry.packages.package import PackageFile
from registry.packages.problems import LazyMessage, Problem, Refusal, gettext_noop

CASES_YAML = "tests/cases.yaml"
MAX_CASES = 20
MAX_NAME = 100
_MAX_BYTES = 256 * 1024
_MAX_ARTIFACTS = 20
_LIST = "cases"
_TEXTS = ("name", "script", "action", "tool", "stdin")
_FIELDS = (*_TEXTS, "arguments", "inputs", "expect")
_EXPECT_FIELDS = ("status", "code", "output", "equals", "artifacts")
STATUSES = ("succeeded", "failed", "timed_out", "refused")
_NOT_TEXT = gettext_noop("`%(field)s` must be text; put it in quotation marks")


@dataclass(frozen=True)
class Expectation:
    """The expected result of a case. "" and () mean that any value is accepted.

    The run's output must equal ``output``, or contain it if ``compares`` is "subset".
    """

    status: str = ""
    code: str = ""
    compares: Literal["", "subset", "equal"] = ""
    output: Any = None
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackagedCase:
    name: str
    line: int | None
    script: str | None = None
    action: str | None = None
    tool: str | None = None
    stdin: str | None = None
    arguments: tuple[Any, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    expect: Expectation = field(default_factory=Expectation)


@dataclass(frozen=True)
class PackagedCases:
    """The valid cases of a package, and the problems of the invalid ones."""

    cases: tuple[PackagedCase, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_cases(files: Sequence[PackageFile]) -> PackagedCases:
    data = next((each.data for each in files if each.path == CASES_YAML), None)
    return PackagedCases() if data is None else parse_cases(data)


def parse_cases(data: bytes) -> PackagedCases:
    """The valid cases in the content of ``tests/cases.yaml``, and the problems of the invalid ones."""
    reader = YamlReader(Limits(), CASES_YAML)
    try:
        if len(data) > _MAX_BYTES:
            reason = LazyMessage(gettext_noop("the file has more than %(limit)s bytes"), limit=_MAX_BYTES)
            raise Refusal(_invalid(1, reason))
        values = reader.read(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return PackagedCases(problems=(_invalid(1, gettext_noop("the file is not UTF-8 text")),))
    except Refusal as refused:
        return PackagedCases(problems=tuple(replace(each, severity="warning") for each in refused.problems))
    if not isinstance(values, Mapping) or list(values) != [_LIST] or not isinstance(values[_LIST], list):
        text = gettext_noop("the file must contain one list, `cases`")
        return PackagedCases(problems=(_invalid(1, text),))
    return _read(values[_LIST], reader)


def _read(rows: list[Any], reader: YamlReader) -> PackagedCases:
    cases: dict[str, PackagedCase] = {}
    problems: list[Problem] = []
    for index, row in enumerate(rows):
        place = (_LIST, str(index))
        line = reader.lines.get(place)
        if len(cases) == MAX_CASES:
            reason = LazyMessage(gettext_noop("only the first %(limit)s cases are read"), limit=MAX_CASES)
            problems.append(_invalid(line, reason))
            break
        if found := list(_problems(row, place, reader)):
            problems += found
        elif row["name"].strip() in cases:
            problems.append(_invalid(line, gettext_noop("the name is duplicated")))
        else:
            case = _case(row, line)
            cases[case.name] = case
    return PackagedCases(tuple(cases.values()), tuple(problems))


def _problems(row: Any, place: tuple[str, ...], reader: YamlReader) -> Iterator[Problem]:
    line = reader.lines.get(place)
    if not isinstance(row, Mapping):
        yield _invalid(line, gettext_noop("a case must be an object with fields such as `name` and `expect`"))
        return
    yield from _unknown(row, _FIELDS, place, reader)
    for name, reason in _wrong_fields(row):
        yield _invalid(reader.lines.get((*place, name), line), reason)
    expect = row.get("expect")
    if isinstance(expect, Mapping):
        place = (*place, "expect")
        yield from _unknown(expect, _EXPECT_FIELDS, place, reader)
        for name, reason in _wrong_expectations(expect):
            yield _invalid(reader.lines.get((*place, name), line), reason)


def _unknown(
    row: Mapping[str, Any], known: tuple[str, ...], place: tuple[str, ...], reader: YamlReader
) -> Iterator[Problem]:
    for name in row:
        if name in known:
            continue
        field, right = printable(name, 40), closest(name, known)
        if right:
            text = gettext_noop("`%(field)s` is unknown; write `%(known)s`")
            reason = LazyMessage(text, field=field, known=right)
        else:
            text = gettext_noop("`%(field)s` is unknown; the fields are %(names)s")
            reason = LazyMessage(text, field=field, names=known)
        yield _invalid(reader.lines.get((*place, name)), reason)


def _wrong_fields(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = row.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        text = gettext_noop("`name` must be a text of at most %(limit)s characters")
        yield "name", LazyMessage(text, limit=MAX_NAME)
    for each in _TEXTS[1:]:
        if each in row and not isinstance(row[each], str):
            yield each, LazyMessage(_NOT_TEXT, field=each)
    if not isinstance(row.get("arguments", []), list):
        yield "arguments", gettext_noop("`arguments` must be a list")
    if not isinstance(row.get("inputs", {}), Mapping):
        yield "inputs", gettext_noop("`inputs` must be an object, such as `{n: x}`")
    if not isinstance(row.get("expect", {}), Mapping):
        text = gettext_noop("`expect` must be an object with some of these fields: %(names)s")
        yield "expect", LazyMessage(text, names=_EXPECT_FIELDS)


def _wrong_expectations(expect: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    status = expect.get("status", STATUSES[0])
    if status not in STATUSES:
        if right := closest(status, STATUSES):
            text = gettext_noop("the value of `status` is unknown; write `%(known)s`")
            yield "status", LazyMessage(text, known=right)
        else:
            yield "status", LazyMessage(gettext_noop("`status` must be one of %(names)s"), names=STATUSES)
    if not isinstance(expect.get("code", ""), str):
        yield "code", LazyMessage(_NOT_TEXT, field="code")
    if "output" in expect and "equals" in expect:
        yield "equals", gettext_noop("use only one of `output` and `equals`")
    names = expect.get("artifacts", [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        yield "artifacts", gettext_noop("`artifacts` must be a list of paths")
    elif len(names) > _MAX_ARTIFACTS:
        text = gettext_noop("`artifacts` can have at most %(limit)s paths")
        yield "artifacts", LazyMessage(text, limit=_MAX_ARTIFACTS)


def _case(row: Mapping[str, Any], line: int | None) -> PackagedCase:
    expect = row.get("expect", {})
    code = expect.get("code", "")
    return PackagedCase(
        row["name"].strip(),
        line,
        script=row.get("script"),
        action=row.get("action"),
        tool=row.get("tool"),
        stdin=row.get("stdin"),
        arguments=tuple(row.get("arguments", ())),
        inputs=row.get("inputs", {}),
        expect=Expectation(
            status=expect.get("status", "" if code else STATUSES[0]),
            code=code,
            compares="equal" if "equals" in expect else "subset" if "output" in expect else "",
            output=expect.get("equals", expect.get("output")),
            artifacts=tuple(expect.get("artifacts", ())),
        ),
    )


def _invalid(line: int | None, reason: str) -> Problem:
    return CASES_INVALID.problem(reason=reason).at(CASES_YAML, line)
