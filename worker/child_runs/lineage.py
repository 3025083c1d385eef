"""Values that a child run inherits: its caller, its place in the tree and its share of the budget."""

from dataclasses import dataclass

from django.db.models import Sum
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.problems import LazyMessage, gettext_noop
from worker.child_runs.errors import CHILD_BUDGET_EXCEEDED, CHILD_CALLER_GONE, CHILD_TOO_DEEP, SKILL_INTERNAL
from worker.models import Run
from worker.sandbox.limits.limits import Limits

MAX_DEPTH = 5
MAX_RUNS = 50  # number of child runs below one root
_MIN_S = 0.1


@dataclass(frozen=True)
class Lineage:
    """A child's parent, and the time (seconds) and output (bytes) that are left for the child."""

    parent: Run
    seconds: float
    output_bytes: int

    def apply(self, run: Run) -> None:
        """Makes the unsaved ``run`` a child of ``parent``, reduces its limits and permits only one
        attempt.
        """
        run.parent, run.root, run.depth = self.parent, root_of(self.parent), self.parent.depth + 1
        run.max_attempts = 1
        limits = Limits(**run.limits)
        seconds, size = min(limits.timeout_s, self.seconds), min(limits.output_bytes, self.output_bytes)
        run.limits = {**run.limits, "timeout_s": seconds, "output_bytes": size}


def lineage_of(parent: Run, *, seconds: float) -> Lineage:
    """The lineage of another child of ``parent``; ``seconds`` is the time that the parent has left.

    Raises CHILD_TOO_DEEP at the depth ``MAX_DEPTH``, and CHILD_BUDGET_EXCEEDED if the root run has no runs,
    time or output left.
    """
    if parent.depth >= MAX_DEPTH:
        raise CHILD_TOO_DEEP.refusal(most=MAX_DEPTH)
    root = root_of(parent)
    below = Run.objects.filter(root=root)
    if below.count() >= MAX_RUNS:
        raise _budget_spent(gettext_noop("number of runs"))
    if seconds < _MIN_S:
        raise _budget_spent(gettext_noop("time"))
    written: int = below.aggregate(bytes=Sum("log_bytes"))["bytes"] or 0
    remaining = Limits(**root.limits).output_bytes - written
    if remaining <= 0:
        raise _budget_spent(gettext_noop("output"))
    return Lineage(parent, seconds, remaining)


def _budget_spent(what: str) -> Exception:
    return CHILD_BUDGET_EXCEEDED.refusal(what=LazyMessage(what))


def root_of(run: Run) -> Run:
    return run.root or run


def require_runnable_from_ui(version: Version) -> None:
    """Raises SKILL_INTERNAL for internal skills, which only other skills and the API can start."""
    if version.manifest.get("type") == INTERNAL:
        raise SKILL_INTERNAL.refusal()


def caller_of(run: Run) -> Actor:
    """The run's caller with current permissions.

    Raises CHILD_CALLER_GONE if the user is inactive or deleted, or the token is revoked, expired or deleted.
    """
    user, token = run.caller, run.token
    if user is None or not user.is_active:
        raise CHILD_CALLER_GONE.refusal()
    if not run.token_name:
        return Actor(user=user)
    if token is None or token.revoked_at is not None or token.expires_at <= timezone.now():
        raise CHILD_CALLER_GONE.refusal()
    return Actor(user=user, token=token, scopes=frozenset(token.scopes))
