"""The newest run of each error group, whose message pages show."""

from collections.abc import Collection

from django.db.models import OuterRef, Subquery

from registry.identity.actors import Actor
from worker.models import ErrorGroup, Run, RunQuerySet

_EXAMINED = 10  # newest runs of a group among which a readable one is searched, so that the cost is constant
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
