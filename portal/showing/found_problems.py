"""Problems as pages show them: each once, the worst first, by file, with the line that is meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext as _

from registry.packages.package import Package, PackageFile
from registry.packages.problems import Problem
from registry.publishing import Preview

_RANK = {"error": 0, "warning": 1, "notice": 2}
_MOST_SHOWN = 160  # characters of a line


@dataclass(frozen=True)
class Row:
    """``source`` is the line itself, where it is one of a text."""

    problem: dict[str, object]
    source: str


@dataclass(frozen=True)
class FileProblems:
    """The problems of one file, or of the whole package where ``path`` is empty."""

    path: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Found:
    """Every problem, by file: the file with the worst of them first."""

    files: tuple[FileProblems, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(file.rows) for file in self.files)

    @property
    def errors(self) -> int:
        return sum(row.problem["severity"] == "error" for file in self.files for row in file.rows)


def every(package: Package, preview: Preview) -> list[Problem]:
    """Each problem once, whoever found it."""
    once = {
        (problem.code, problem.path, problem.line, problem.message()): problem
        for problem in (*package.problems, *preview.problems)
    }
    return list(once.values())


def by_file(problems: Iterable[Problem], files: Iterable[PackageFile] = ()) -> Found:
    """Within a file the worst first, then by line; in the reader's language."""
    data = {file.path: file.data for file in files}
    found: dict[str, list[Problem]] = {}
    for problem in sorted(problems, key=lambda each: (_RANK[each.severity], each.path, each.line or 0)):
        found.setdefault(problem.path, []).append(problem)
    return Found(
        tuple(
            FileProblems(path, tuple(Row(each.document(_), _source(each, data.get(path))) for each in rows))
            for path, rows in found.items()
        )
    )


def _source(problem: Problem, data: bytes | None) -> str:
    """The line that is wrong; a line where something is missing shows nothing of it."""
    if data is None or not problem.line or problem.code.endswith("_MISSING"):
        return ""
    lines = data.decode("utf-8-sig", "replace").splitlines()
    return next(islice(lines, problem.line - 1, None), "").strip()[:_MOST_SHOWN]
