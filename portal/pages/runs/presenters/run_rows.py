"""Presents a list of runs: as rows of a table, as a chart, and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from portal.delivery.downloads import csv_lines
from portal.pages.runs.presenters.timeline import ran_ms
from portal.presenters.charts import dots
from portal.presenters.explanations import failure_text
from portal.presenters.results import inputs_line, one_line, output_of
from portal.presenters.skill.names import skill_names
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.models import Version
from worker.annotations.marks import labels_of
from worker.core.display_budget import MAX_LISTED
from worker.dependencies.waits import waits_of
from worker.models import Run, RunQuerySet
from worker.run_views.cause import cause_text

HEAVY = ("request", "result")  # columns that may contain megabytes
CSV_COLUMNS = (
    "id",
    "number",
    "skill",
    "version",
    "status",
    "failure_code",
    "cause",
    "started_by",
    "token",
    "team",
    "created_at",
    "started_at",
    "finished_at",
    "duration_ms",
)
MAX_CSV_ROWS = 10_000
_BATCH = 500


@reader
def run_rows(runs: Sequence[Run], actor: Actor) -> Reads[list[dict[str, Any]]]:
    """Rows for templates; ``inputs`` and ``outcome`` are None if the actor may not read the run."""
    readable = Run.objects.readable_by(actor).filter(pk__in=[run.pk for run in runs])
    contents_read, yanked_read = readable.small_contents(max_characters=MAX_LISTED), _yanked(runs)
    waits, names, labels, _others = yield from gather(
        waits_of.reads(runs),
        skill_names.reads(runs, actor),
        labels_of.reads(runs),
        reads_of(contents_read, yanked_read),
    )
    contents = {pk: values for pk, *values in contents_read}
    now, yanked = timezone.now(), set(yanked_read)
    return [
        {
            "run": run,
            "skill_name": names[run.pk],
            "inputs": inputs_line(contents[run.pk][0] or {}) if run.pk in contents else None,
            "outcome": _outcome(run, contents[run.pk][1] or {}) if run.pk in contents else None,
            "labels": labels.get(run.pk, ()),
            "ran_ms": ran_ms(run, now),
            "preparing": bool(waits.get(run.pk)),  # the run waits for its dependencies
            "is_yanked": (run.skill_id, run.version_number) in yanked,
        }
        for run in runs
    ]


def chart_context(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The dots of the finished runs of ``rows``, as ``portal.presenters.charts.dots`` returns them."""
    return dots([(row["run"], row["ran_ms"]) for row in rows if row["run"].finished_at])


def csv_chunks(runs: RunQuerySet, actor: Actor) -> Iterator[bytes]:
    """Yields the newest ``MAX_CSV_ROWS`` runs as CSV, with a byte order mark for spreadsheets.

    The cause is empty for runs that the actor may not read. If there are more runs, the last line is a note.
    """
    yield b"\xef\xbb\xbf" + csv_lines([CSV_COLUMNS])
    newest = runs.select_related("caller", "team").defer(*HEAVY, "files").order_by("-id")[:MAX_CSV_ROWS]
    rows = newest.iterator(chunk_size=_BATCH)
    while batch := [run for run, _ in zip(rows, range(_BATCH), strict=False)]:
        keys = [run.pk for run in batch]
        readable = set(Run.objects.readable_by(actor).filter(pk__in=keys).values_list("pk", flat=True))
        yield csv_lines([_csv_row(run, run.pk in readable) for run in batch])
    if runs.order_by("-id")[MAX_CSV_ROWS : MAX_CSV_ROWS + 1].exists():
        note = gettext("This file has only the newest %(n)s runs. Narrow the filters to export older runs.")
        yield csv_lines([[note % {"n": MAX_CSV_ROWS}]])


def _csv_row(run: Run, may_read: bool) -> tuple[object, ...]:
    return (
        run.uid,
        run.number or "",
        run.skill_label,
        run.version_number,
        run.status,
        run.failure_code,
        one_line(cause_text(run), max_length=500) if may_read else "",
        run.caller.get_username() if run.caller else "",
        run.token_name,
        run.team.slug if run.team else "",
        *(_iso(moment) for moment in (run.created_at, run.started_at, run.finished_at)),
        "" if run.duration_ms is None else run.duration_ms,
    )


def _iso(moment: datetime | None) -> str:
    return moment.isoformat(timespec="milliseconds") if moment else ""


def _yanked(runs: Sequence[Run]) -> QuerySet[Version, tuple[int, str]]:
    versions = Version.objects.filter(
        skill__in={run.skill_id for run in runs if run.skill_id},
        number__in={run.version_number for run in runs},
        yanked_at__isnull=False,
    )
    return versions.values_list("skill_id", "number")


def _outcome(run: Run, result: Mapping[str, Any]) -> str:
    """The cause of a failure, otherwise the message or the output, in one line; "" if there is none
    of them.
    """
    if cause := failure_text(run):
        return one_line(cause)
    if run.message:
        return one_line(run.message)
    output = output_of(result)
    return "" if output in (None, {}, "") else one_line(output)
