"""The newest runs of error groups: the run whose message pages show, and the failures per day."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import TruncDate

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from worker.models import ErrorGroup, Run, RunQuerySet

_EXAMINED = 10  # newest runs of a group among which a readable one is searched, so that the cost is constant
MAX_COUNTED = 1000  # newest runs of a group that are counted per day, for the same reason
_COLUMNS = (
    "uid",
    "number",
    "status",
    "failure_code",
    "message",
    "cause",
    "error_key",
    "exit_code",
    "erased_at",
    "attempt",
)


def newest_readable(groups: Collection[int], actor: Actor) -> RunQuerySet:
    """The newest run of each of the groups with these keys that the actor can read, without its content.

    Omits groups without such a run among their ten newest runs.
    """
    newest = Run.objects.filter(error_key=OuterRef(OuterRef("key"))).exclude(error_key="").order_by("-id")
    readable = Run.objects.readable_by(actor).filter(pk__in=newest.values("pk")[:_EXAMINED]).order_by("-id")
    found = ErrorGroup.objects.filter(pk__in=groups).annotate(newest=Subquery(readable.values("pk")[:1]))
    return Run.objects.filter(pk__in=found.values("newest")).only(*_COLUMNS)


@dataclass(frozen=True)
class DailyFailures:
    """The failures of one group per day (UTC). On days before ``complete_from``, there can be more."""

    counts: Mapping[date, int]
    complete_from: date


@reader
def failures_per_day(
    groups: Collection[ErrorGroup], actor: Actor, *, first: date
) -> Reads[dict[int, DailyFailures]]:
    """The failures since ``first`` that the actor can see, by the group's primary key. Counts at most the
    ``MAX_COUNTED`` newest runs of each group.
    """
    newest = Run.objects.filter(error_key=OuterRef("key")).exclude(error_key="").order_by("-id")
    keys = [group.pk for group in groups]
    limited = ErrorGroup.objects.filter(pk__in=keys).annotate(
        last=Subquery(newest.values("pk")[MAX_COUNTED : MAX_COUNTED + 1])
    )
    skipped = Run.objects.filter(pk__in=limited.values("last"))
    yield (limits := skipped.values_list("error_key", "pk", "finished_at"))
    newest_skipped = {key: (pk, finished) for key, pk, finished in limits if finished}
    since = datetime.combine(first, time.min, UTC)
    runs = Run.objects.visible_to(actor).filter(finished_at__gte=since).exclude(error_key="").order_by()
    days = runs.annotate(day=TruncDate("finished_at", tzinfo=UTC)).values("error_key", "day")
    rows = days.annotate(n=Count("pk")).values_list("error_key", "day", "n")
    whole = [group.key for group in groups if group.key not in newest_skipped]
    # Each part is a queryset of its own, because SQLite reads the whole index for an OR of both conditions.
    limited_rows = (rows.filter(error_key=key, pk__gt=pk) for key, (pk, _at) in newest_skipped.items())
    yield (parts := (rows.filter(error_key__in=whole), *limited_rows))
    found: defaultdict[str, Counter[date]] = defaultdict(Counter)
    for key, day, number in chain(*parts):
        found[key][day] = number
    return {
        group.pk: DailyFailures(found[group.key], _complete_from(newest_skipped.get(group.key), first))
        for group in groups
    }


def _complete_from(skipped: tuple[int, datetime] | None, first: date) -> date:
    return max(first, skipped[1].astimezone(UTC).date() + timedelta(days=1)) if skipped else first
