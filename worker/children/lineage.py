"""What a run owes to the one that started it: its caller, its place in the tree, its share of the budget."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Sum
from django.utils import timezone

from registry.actors import Actor
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.problems import Said, gettext_noop, refuse
from worker.models import Run
from worker.sandbox.policy import Limits

DEEPEST = 5
MOST = 50  # runs below the first one of all
_LEAST_S = 0.1


@dataclass(frozen=True)
class Lineage:
    """A child's parent, and what the first run of all leaves for it."""

    parent: Run
    seconds: float
    output_bytes: int

    def mark(self, run: Run) -> None:
        """Places the run below its parent; it is never started again without it."""
        run.parent, run.root, run.depth = self.parent, root_of(self.parent), self.parent.depth + 1
        run.max_attempts = 1
        limits = Limits(**run.limits)
        seconds, size = min(limits.timeout_s, self.seconds), min(limits.output_bytes, self.output_bytes)
        run.limits = {**run.limits, "timeout_s": seconds, "output_bytes": size}


def lineage_of(parent: Run, *, seconds: float) -> Lineage:
    """The share of one more child, ``seconds`` being what its parent has left; refused where it is none."""
    if parent.depth >= DEEPEST:
        raise refuse("CHILD_TOO_DEEP", most=DEEPEST)
    root = root_of(parent)
    below = Run.objects.filter(root=root)
    if below.count() >= MOST:
        raise _spent(gettext_noop("number of runs"))
    if seconds < _LEAST_S:
        raise _spent(gettext_noop("time"))
    written: int = below.aggregate(bytes=Sum("log_bytes"))["bytes"] or 0
    left = Limits(**root.limits).output_bytes - written
    if left <= 0:
        raise _spent(gettext_noop("output"))
    return Lineage(parent, seconds, left)


def _spent(what: str) -> Exception:
    return refuse("CHILD_BUDGET_SPENT", what=Said(what))


def root_of(run: Run) -> Run:
    return run.root or run


def require_pressable(version: Version) -> None:
    """Refuses what no person starts from a page."""
    if version.manifest.get("type") == INTERNAL:
        raise refuse("SKILL_INTERNAL")


def caller_of(run: Run) -> Actor:
    """Whoever started the run, with the power that they, or their token, have at this moment."""
    user, token = run.caller, run.token
    if user is None or not user.is_active:
        raise refuse("CHILD_CALLER_GONE")
    if not run.token_name:
        return Actor(user=user)
    if token is None or token.revoked_at is not None or token.expires_at <= timezone.now():
        raise refuse("CHILD_CALLER_GONE")
    return Actor(user=user, token=token, scopes=frozenset(token.scopes))
