"""The report of an import: a row for each folder seen, what was known of it before, and progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from registry.imports.queue import Hold
from registry.models import Import, ImportOutcome, ImportRow, ImportStatus, Source, Version
from registry.packages.problems import Problem
from registry.publishing.rows import problem_row


@dataclass(frozen=True)
class Row:
    """What became of one folder or file."""

    path: str
    outcome: ImportOutcome
    skill: str = ""  # team/slug
    version: str = ""
    digest: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Known:
    """What a path was when its source was read last, and still is in the registry."""

    label: str  # team/slug
    version: str
    digest: str
    problems: tuple[Problem, ...]

    def row(self, path: str) -> Row:
        return Row(path, ImportOutcome.UNCHANGED, self.label, self.version, self.digest, self.problems)


def known_before(source: Source) -> Mapping[str, Known]:
    """By path, from the last report and an unfinished one: bytes seen there need no reading again."""
    done = source.imports.filter(status=ImportStatus.DONE).order_by("-pk").values("pk")[:1]
    unfinished = source.imports.filter(status=ImportStatus.RUNNING).values("pk")
    ids = [row["pk"] for row in (*done, *unfinished)]
    rows = ImportRow.objects.filter(report__in=ids).exclude(version="").order_by("report_id")
    published = set(
        Version.objects.filter(skill__team=source.team).values_list("skill__slug", "number", "digest")
    )
    return {
        row.path: Known(row.skill, row.version, row.digest, problems_of(row))
        for row in rows
        if (row.skill.rpartition("/")[2], row.version, row.digest) in published
    }


def outcome_of(report: Import) -> tuple[tuple[Row, ...], tuple[Problem, ...]]:
    """The rows of a report in the order they were seen, and why it failed as a whole."""
    rows = tuple(
        Row(row.path, ImportOutcome(row.outcome), row.skill, row.version, row.digest, problems_of(row))
        for row in report.rows.order_by("pk")
    )
    return rows, problems_of(report)


def counts_of(report: Import) -> dict[str, int]:
    """How many rows have each outcome."""
    counted = report.rows.values_list("outcome").annotate(count=Count("pk"))
    return dict.fromkeys(ImportOutcome.values, 0) | dict(counted)


def problems_of(of: ImportRow | Import) -> tuple[Problem, ...]:
    """Why a row was skipped or refused, or an import failed."""
    return tuple(Problem(**row) for row in of.problems)


class Writing:
    """The rows of one import as they come."""

    def __init__(self, report: Import, hold: Hold) -> None:
        self.report, self.hold, self.done = report, hold, 0
        earlier = report.rows.filter(outcome=ImportOutcome.PUBLISHED) if hold.attempt > 1 else ()
        self.published = {row.path: row.digest for row in earlier}

    def expect(self, found: int) -> None:
        Import.objects.filter(pk=self.report.pk).update(found=found, done=0)

    def write(self, rows: Sequence[Row]) -> None:
        """Within the transaction of what they tell of; a row that is there already is written over."""
        ImportRow.objects.bulk_create(
            [self._model(self._kept(row)) for row in rows],
            update_conflicts=True,
            unique_fields=["report", "path"],
            update_fields=["outcome", "skill", "version", "digest", "problems"],
            batch_size=100,
        )
        self.hold.renew()
        self.done += len(rows)
        Import.objects.filter(pk=self.report.pk).update(done=self.done)

    def _kept(self, row: Row) -> Row:
        """What this import published before its worker died, it has published."""
        if row.outcome == ImportOutcome.UNCHANGED and self.published.get(row.path) == row.digest:
            return replace(row, outcome=ImportOutcome.PUBLISHED)
        return row

    def _model(self, row: Row) -> ImportRow:
        return ImportRow(
            report=self.report,
            path=row.path,
            outcome=row.outcome,
            skill=row.skill,
            version=row.version,
            digest=row.digest,
            problems=[problem_row(each) for each in row.problems],
        )
