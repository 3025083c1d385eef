"""Updates error groups when runs are erased or deleted, and groups runs of earlier releases."""

from collections.abc import Collection, Iterator

from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef
from django.utils import timezone

from worker.failures.recording import failure_of, record
from worker.models import FAILED_STATUSES, ErrorGroup, FailureCount, Run

_BATCH = 200


def recount(keys: Collection[str]) -> None:
    """Counts the runs of the groups with these keys again, and deletes groups without runs. Runs that
    retention removed stay counted while the group has others.

    Call this in the transaction that erases or deletes runs, with the runs locked.
    """
    groups = {
        group.key: group
        for group in ErrorGroup.objects.select_for_update(no_key=True).filter(key__in=keys).order_by("key")
    }
    FailureCount.objects.filter(group__in=[group.pk for group in groups.values()], removed=0).delete()
    removed = FailureCount.objects.filter(group__key__in=groups).select_related("group")
    kept = {
        (row.group.key, row.version_number, row.team_key, row.caller_key): row for row in removed
    }  # keeps the counts of runs that retention removed
    for row in kept.values():
        row.count = row.removed
    rows = Run.objects.filter(error_key__in=groups).order_by()
    by = ("error_key", "version_number", "team_id", "caller_id")
    counted = rows.values_list(*by).annotate(n=Count("pk"), first=Min("finished_at"), last=Max("finished_at"))
    left: dict[str, list[FailureCount]] = {}
    for key, version, team, caller, number, first, last in counted:
        if same := kept.get((key, version, team or 0, caller or 0)):
            same.count += number
            continue
        left.setdefault(key, []).append(
            FailureCount(
                group=groups[key],
                version_number=version,
                team_key=team or 0,
                caller_key=caller or 0,
                count=number,
                first_seen=first,
                last_seen=last,
            )
        )
    FailureCount.objects.bulk_update(kept.values(), ["count"])
    FailureCount.objects.bulk_create(each for counts in left.values() for each in counts)
    with_runs = set(rows.values_list("error_key", flat=True).distinct())
    for row in kept.values():
        left.setdefault(row.group.key, []).append(row)
    for key, group in groups.items():
        if key not in with_runs:
            group.delete()
            continue
        group.count = sum(each.count for each in left[key])
        group.first_seen = min(each.first_seen for each in left[key])
        group.last_seen = max(each.last_seen for each in left[key])
        group.save(update_fields=["count", "first_seen", "last_seen"])


def sweep() -> int:
    """Deletes groups whose runs no longer exist; returns the number of deleted rows, including their
    counts.
    """
    runs = Run.objects.filter(error_key=OuterRef("key"))
    empty = ErrorGroup.objects.filter(~Exists(runs))
    with transaction.atomic():
        # A group in which a failure was counted between the two queries is kept; later failures wait for the
        # lock.
        locked = list(empty.select_for_update(no_key=True).order_by("key").values_list("pk", flat=True))
        return empty.filter(pk__in=locked).delete()[0]


def group_earlier_runs() -> Iterator[int]:
    """Adds failed runs without a group to their groups in batches; yields how many runs each batch added.

    Sends no events. Safe to repeat, and to run while workers are active.
    """
    last = 0
    while True:
        rows = Run.objects.filter(status__in=FAILED_STATUSES, error_key="", case_name="", erased_at=None)
        rows = rows.filter(skill__isnull=False, finished_at__isnull=False, pk__gt=last).order_by("pk")
        batch = list(rows.without_content().defer("files")[:_BATCH])
        if not batch:
            return
        yield sum(_group(run) for run in batch)
        last = batch[-1].pk


def _group(run: Run) -> bool:
    failure = failure_of(run, run.status, run.failure_code, run.message, run.cause)
    if failure is None:
        return False
    with transaction.atomic():
        added = Run.objects.filter(pk=run.pk, error_key="", erased_at=None).update(error_key=failure.key)
        if added:
            record(failure, run.finished_at or timezone.now(), announce=False)
    return bool(added)


def count_as_removed(runs: Collection[int]) -> None:
    """Keeps these failed runs in the counts of their groups. Call this in the transaction that deletes the
    runs.
    """
    by = ("error_key", "version_number", "team_id", "caller_id")
    failed = Run.objects.filter(pk__in=runs).exclude(error_key="").order_by()
    for key, version, team, caller, number in sorted(
        failed.values_list(*by).annotate(n=Count("pk")), key=lambda row: row[0]
    ):
        FailureCount.objects.filter(
            group__key=key, version_number=version, team_key=team or 0, caller_key=caller or 0
        ).update(removed=F("removed") + number)
