"""Reads and writes the report of an import: its progress, and the outcome for each path of the source."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from registry.core.leases import LeaseLost
from registry.imports.candidates import ReadProgress
from registry.imports.queue import ImportLease
from registry.models import Import, ImportOutcome, ImportRow, ImportStatus, Source, Version
from registry.packages.problems import Problem
from registry.versions.publishing.version_rows import serialize_problem

PHASES = ("queued", "reading", "checking", "publishing", "ended")
_INTERVAL_S = 1.0
MAX_PROBLEMS = 20  # of a row or of the whole import, on pages and in API responses


@dataclass(frozen=True)
class ReportRow:
    """The outcome of an import for one folder or file of the source."""

    path: str
    outcome: ImportOutcome
    skill: str = ""  # team/slug
    version: str = ""
    digest: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class ImportedSkill:
    """A version that was imported from a path and still exists."""

    label: str  # team/slug
    version: str
    digest: str
    problems: tuple[Problem, ...]

    def row(self, path: str) -> ReportRow:
        return ReportRow(path, ImportOutcome.UNCHANGED, self.label, self.version, self.digest, self.problems)


def previously_imported(source: Source) -> Mapping[str, ImportedSkill]:
    """The versions that the last successful import published or found unchanged, by path. Those of the
    running import take precedence. Versions that no longer exist are omitted.
    """
    done = source.imports.filter(status=ImportStatus.DONE).order_by("-pk").values("pk")[:1]
    unfinished = source.imports.filter(status=ImportStatus.RUNNING).values("pk")
    ids = [row["pk"] for row in (*done, *unfinished)]
    rows = ImportRow.objects.filter(report__in=ids).exclude(version="").order_by("report_id")
    published = set(
        Version.objects.filter(skill__team=source.team).values_list("skill__slug", "number", "digest")
    )
    return {
        row.path: ImportedSkill(row.skill, row.version, row.digest, load_problems(row))
        for row in rows
        if (row.skill.rpartition("/")[2], row.version, row.digest) in published
    }


def load_rows(report: Import) -> tuple[tuple[ReportRow, ...], tuple[Problem, ...]]:
    """The rows of the report in the order in which they were written, and the problems of the
    whole import.
    """
    rows = tuple(
        ReportRow(
            row.path, ImportOutcome(row.outcome), row.skill, row.version, row.digest, load_problems(row)
        )
        for row in report.rows.order_by("pk")
    )
    return rows, load_problems(report)


def count_outcomes(report: Import) -> dict[str, int]:
    """The number of rows by outcome, with 0 for outcomes without rows."""
    counted = report.rows.values_list("outcome").annotate(count=Count("pk"))
    return dict.fromkeys(ImportOutcome.values, 0) | dict(counted)


def load_problems(of: ImportRow | Import) -> tuple[Problem, ...]:
    return tuple(Problem(**row) for row in of.problems)


def first_problems(of: ImportRow | Import) -> tuple[tuple[Problem, ...], int]:
    """The first MAX_PROBLEMS problems, and the number of omitted ones."""
    problems = tuple(Problem(**row) for row in of.problems[:MAX_PROBLEMS])
    return problems, len(of.problems) - len(problems)


class ReportProgress(ReadProgress):
    """Writes the progress of a running import to its row, at most once per ``_INTERVAL_S``."""

    def __init__(self, lease: ImportLease) -> None:
        super().__init__()
        self.lease, self.next_at = lease, 0.0
        self.write(total=0, processed=0)  # an earlier attempt may have written more

    def changed(self) -> None:
        if time.monotonic() >= self.next_at:
            self.write()

    def write(self, **more: int) -> None:
        """Writes the progress and ``more``. Raises LeaseLost if the import was cancelled or taken over."""
        if not self.lease.row().update(read_bytes=self.read_bytes, checked=self.checked, **more):
            raise LeaseLost
        self.next_at = time.monotonic() + _INTERVAL_S


def phase_of(report: Import) -> str:
    """What the import does now: one of ``PHASES``."""
    if report.status != ImportStatus.RUNNING:
        return "queued" if report.status == ImportStatus.QUEUED else "ended"
    if not report.total:
        return "reading"
    return "checking" if report.checked < report.total else "publishing"


class ReportWriter:
    """Writes the rows and the progress of one import."""

    def __init__(self, report: Import, lease: ImportLease) -> None:
        self.report, self.lease, self.done = report, lease, 0
        earlier = report.rows.filter(outcome=ImportOutcome.PUBLISHED) if lease.attempt > 1 else ()
        self.published = {row.path: row.digest for row in earlier}

    def write(self, rows: Sequence[ReportRow]) -> None:
        """Writes the rows, replacing rows with the same path; also renews the lease and updates the progress.
        Call this in the transaction that publishes the rows' versions.
        """
        ImportRow.objects.bulk_create(
            [self._model(self._mark_published(row)) for row in rows],
            update_conflicts=True,
            unique_fields=["report", "path"],
            update_fields=["outcome", "skill", "version", "digest", "problems"],
            batch_size=100,
        )
        self.lease.renew()
        self.done += len(rows)
        Import.objects.filter(pk=self.report.pk).update(processed=self.done)

    def _mark_published(self, row: ReportRow) -> ReportRow:
        """The row, with the outcome PUBLISHED if an earlier attempt of this import published its version."""
        if row.outcome == ImportOutcome.UNCHANGED and self.published.get(row.path) == row.digest:
            return replace(row, outcome=ImportOutcome.PUBLISHED)
        return row

    def _model(self, row: ReportRow) -> ImportRow:
        return ImportRow(
            report=self.report,
            path=row.path,
            outcome=row.outcome,
            skill=row.skill,
            version=row.version,
            digest=row.digest,
            problems=[serialize_problem(each) for each in row.problems],
        )
