"""Presents problems: without duplicates, grouped by file, worst first, with the source line."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from registry.packages.package import Package, PackageFile
from registry.packages.problems import Problem
from registry.versions.publishing.publish import Preview

_RANK = {"error": 0, "warning": 1, "notice": 2}
_MAX_CHARACTERS = 160  # of a source line


@dataclass(frozen=True)
class FileProblems:
    """The problems of one file, or of the whole package where ``path`` is empty."""

    path: str
    rows: list[dict[str, Any]]  # problem and affected source line


@dataclass(frozen=True)
class ProblemList:
    """All problems by file; the file with the worst problem first."""

    files: tuple[FileProblems, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(file.rows) for file in self.files)

    @property
    def errors(self) -> int:
        return sum(row["problem"]["severity"] == "error" for file in self.files for row in file.rows)


def all_problems(package: Package, preview: Preview) -> list[Problem]:
    """The problems of package and preview without duplicates."""
    once = {
        (problem.code, problem.path, problem.line, problem.message()): problem
        for problem in (*package.problems, *preview.problems)
    }
    return list(once.values())


def by_file(problems: Iterable[Problem], files: Iterable[PackageFile] = ()) -> ProblemList:
    """Problems grouped by file, the worst first, then by line; in the reader's language."""
    data = {file.path: file.data for file in files}
    found: dict[str, list[Problem]] = {}
    for problem in sorted(problems, key=lambda each: (_RANK[each.severity], each.path, each.line or 0)):
        found.setdefault(problem.path, []).append(problem)
    result = []
    for path, of_file in found.items():
        lines = data.get(path, b"").decode("utf-8-sig", "replace").splitlines()
        rows = [{"problem": each.document(_), "source": _source(each, lines)} for each in of_file]
        result.append(FileProblems(path, rows))
    return ProblemList(tuple(result))


def _source(problem: Problem, lines: list[str]) -> str:
    """The affected line; "" if the problem is that something is missing."""
    if not 0 < (problem.line or 0) <= len(lines) or problem.code.endswith("_MISSING"):
        return ""
    return lines[(problem.line or 0) - 1].strip()[:_MAX_CHARACTERS]
