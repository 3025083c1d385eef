"""Presents the problems of a package, grouped by file, with the affected source lines."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from registry.packages.checks.errors import FIELD_MISSING
from registry.packages.errors import DESCRIPTION_MISSING, FIELD_MISSPELLED, NAME_MISSING
from registry.packages.package import Package, PackageFile
from registry.packages.problems import Problem
from registry.versions.publishing.publish import Preview
from worker.core.display_budget import MAX_ROWS

_MISSING = {NAME_MISSING.name: "name", DESCRIPTION_MISSING.name: "description"}
_RANK = {"error": 0, "warning": 1, "notice": 2}
_MAX_CHARACTERS = 160  # length at which a source line is cut
_CONTEXT = 1  # source lines shown before and after the affected one


@dataclass(frozen=True)
class SourceLine:
    number: int
    text: str
    is_affected: bool


@dataclass(frozen=True)
class FileProblems:
    """The problems of one file, or of the package as a whole if ``path`` is ""."""

    path: str
    rows: list[dict[str, Any]]  # a problem, its source lines and its fix each


@dataclass(frozen=True)
class ProblemList:
    """The worst problems by file; the file with the worst problem comes first.

    ``counts`` has the number of all problems by severity, ``omitted`` the number of those not in ``files``.
    """

    files: tuple[FileProblems, ...] = ()
    counts: Mapping[str, int] = field(default_factory=Counter)
    omitted: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def errors(self) -> int:
        return self.counts["error"]

    @property
    def warnings(self) -> int:
        return self.counts["warning"]


def all_problems(package: Package, preview: Preview) -> list[Problem]:
    """The problems of the package and of its publish preview, without duplicates."""
    once = {
        (problem.code, problem.path, problem.line, problem.message()): problem
        for problem in (*package.problems, *preview.problems)
    }
    return list(once.values())


def by_file(
    problems: Iterable[Problem],
    files: Iterable[PackageFile] = (),
    fix_of: Callable[[Problem], object] = lambda _problem: None,
) -> ProblemList:
    """Groups the worst MAX_ROWS problems by file, in the reader's language. ``files`` provides the source
    lines, ``fix_of`` the change that a button makes.

    The file with the worst problem comes first. In a file, problems are sorted by severity, then by line; a
    misspelled required field comes first, as one error: the missing field is not a second problem.
    """
    data = {file.path: file.data for file in files}
    problems = list(problems)
    explained = _explained_fields(problems)
    merged = (each for each in problems if _missing(each) not in explained)
    ordered = sorted(
        (replace(each, severity="error") if _meant(each) in explained else each for each in merged),
        key=lambda each: (_rank(each, explained), each.path, each.line or 0),
    )
    found: dict[str, list[Problem]] = {}
    for problem in ordered[:MAX_ROWS]:
        found.setdefault(problem.path, []).append(problem)
    result = []
    for path, of_file in found.items():
        lines = data.get(path, b"").decode("utf-8-sig", "replace").splitlines()
        rows = [
            {"problem": each.document(_), "source": _source(each, lines), "fix": fix_of(each)}
            for each in of_file
        ]
        result.append(FileProblems(path, rows))
    counts: Counter[str] = Counter(each.severity for each in ordered)
    return ProblemList(tuple(result), counts, omitted=len(ordered[MAX_ROWS:]))


def _explained_fields(problems: Sequence[Problem]) -> set[str]:
    """The missing fields that the package has under a misspelled name."""
    return {_missing(each) for each in problems} & {_meant(each) for each in problems} - {""}


def _rank(problem: Problem, explained: set[str]) -> int:
    """The place by severity; a required field that is only misspelled comes first."""
    return -1 if _meant(problem) in explained else _RANK[problem.severity]


def _missing(problem: Problem) -> str:
    """The missing field; "" for other problems."""
    return (
        str(problem.params["field"]) if problem.code == FIELD_MISSING.name else _MISSING.get(problem.code, "")
    )


def _meant(problem: Problem) -> str:
    """The known field that a misspelled one resembles; "" for other problems."""
    return str(problem.params["known"]) if problem.code == FIELD_MISSPELLED.name else ""


def _source(problem: Problem, lines: list[str]) -> list[SourceLine]:
    """The affected line and its neighbors; [] if the line number is unknown or the problem is a
    missing part.
    """
    line = problem.line or 0
    if not 0 < line <= len(lines) or problem.code.endswith("_MISSING"):
        return []
    numbers = range(max(line - _CONTEXT, 1), min(line + _CONTEXT, len(lines)) + 1)
    return [
        SourceLine(number, lines[number - 1][:_MAX_CHARACTERS], is_affected=number == line)
        for number in numbers
    ]
