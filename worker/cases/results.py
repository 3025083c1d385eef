"""The results of a version's test cases: whether each run has the expected result, and the differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from django.db.models import QuerySet

from registry.core.sql import Reads, gather, prepared, reader, reads_of
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Version
from registry.packages.checks.cases import Expectation, PackagedCase
from registry.packages.problems import Problem
from worker.cases.run_cases import cases_of
from worker.models import Artifact, CaseResult, Run, RunStatus

CaseState = Literal["not_run", "running", "passed", "failed", "unknown"]
STATES: tuple[CaseState, ...] = ("not_run", "running", "passed", "failed", "unknown")
_UNDER_WAY = (RunStatus.QUEUED, RunStatus.WAITING_APPROVAL, RunStatus.RUNNING)
_MAX_DIFFERENCES = 20
_MAX_TEXT = 500  # characters of a value
_ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """A value that differs from the expected one. Both are JSON text, or "" if missing."""

    field: str
    expected: str
    actual: str


@dataclass(frozen=True)
class CaseRow:
    """A test case with its newest result. ``run`` is None if the case was never run or its request was
    refused.
    """

    case: PackagedCase
    state: CaseState
    run: Run | None = None
    problem: Problem | None = None
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class CaseResults:
    rows: tuple[CaseRow, ...]
    problems: tuple[Problem, ...]  # problems of invalid cases

    @property
    def is_running(self) -> bool:
        return any(row.state == "running" for row in self.rows)


@reader
def case_results(version: Version, actor: Actor) -> Reads[CaseResults]:
    """The results of the version's test cases. Requires ``Action.SETTINGS``.

    The state is unknown for a run that the actor can't read or whose content was erased.
    """
    require(actor, Action.SETTINGS, skill=version.skill)
    found = _results_of(version.pk)
    packaged, _found = yield from gather(cases_of.reads(version), reads_of(found))
    results = {row.name: row for row in found}
    runs, artifacts = yield from _runs([row.run_id for row in found if row.run_id], actor)
    rows = tuple(_row(case, results.get(case.name), runs, artifacts) for case in packaged.cases)
    return CaseResults(rows, packaged.problems)


def _runs(keys: Sequence[int], actor: Actor) -> Reads[tuple[dict[int, Run], list[tuple[int, str]]]]:
    """Those runs that the actor can read, and the run and path of the artifacts of all."""
    if not keys:
        return {}, []
    runs = Run.objects.readable_by(actor).filter(pk__in=keys)
    artifacts = Artifact.objects.filter(run__in=keys).values_list("run_id", "path")
    yield runs, artifacts
    return {run.pk: run for run in runs}, list(artifacts)


@prepared
def _results_of(version: int) -> QuerySet[CaseResult]:
    return CaseResult.objects.filter(version_id=version)


def _row(
    case: PackagedCase,
    result: CaseResult | None,
    readable: Mapping[int, Run],
    artifacts: Sequence[tuple[int, str]],
) -> CaseRow:
    if result is None:
        return CaseRow(case, "not_run")
    if result.problem:
        problem = Problem(**result.problem)
        found = _differences(case.expect, RunStatus.REFUSED, problem.code, None, ())
        return CaseRow(case, "failed" if found else "passed", problem=problem, differences=found)
    run = readable.get(result.run_id or 0)
    if run is None or run.erased_at:
        return CaseRow(case, "unknown", run)
    if run.status in _UNDER_WAY:
        return CaseRow(case, "running", run)
    own = tuple(path for key, path in artifacts if key == run.pk)
    found = _differences(case.expect, run.status, run.failure_code, _output(run), own)
    return CaseRow(case, "failed" if found else "passed", run, differences=found)


def _output(run: Run) -> Any:
    result = run.result or {}
    return result.get("outputs") if run.protocol == "script" else result.get("output")


def _differences(
    expect: Expectation, status: str, code: str, output: Any, artifacts: tuple[str, ...]
) -> tuple[Difference, ...]:
    found: list[Difference] = []
    if expect.status and status != expect.status:
        found.append(_difference("status", expect.status, status))
    if code != expect.code and (expect.code or expect.status == RunStatus.SUCCEEDED):
        found.append(_difference("code", expect.code, code))
    if expect.compares:
        whole = expect.compares == "equal"
        found += islice(_compare("output", expect.output, output, whole=whole), _MAX_DIFFERENCES)
    found += [_difference("artifacts", name, _ABSENT) for name in expect.artifacts if name not in artifacts]
    return tuple(found[:_MAX_DIFFERENCES])


def _compare(field: str, expected: Any, actual: Any, *, whole: bool) -> Iterator[Difference]:
    """Yields the differences between two JSON values. Unless ``whole``, ``actual`` can have additional fields
    in its objects.
    """
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for name in [*expected, *(each for each in actual if whole and each not in expected)]:
            before, after = expected.get(name, _ABSENT), actual.get(name, _ABSENT)
            yield from _compare(f"{field}/{name}", before, after, whole=whole)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, pair in enumerate(zip(expected, actual, strict=True)):
            yield from _compare(f"{field}/{index}", *pair, whole=whole)
    elif isinstance(expected, bool) != isinstance(actual, bool) or expected != actual:  # True == 1
        yield _difference(field, expected, actual)


def _difference(field: str, expected: Any, actual: Any) -> Difference:
    return Difference(field[:_MAX_TEXT], _text(expected), _text(actual))


def _text(value: Any) -> str:
    text = "" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
