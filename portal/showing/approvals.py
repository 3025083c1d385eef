"""A run that somebody has to let, as its page and the inbox show it, with what the reader may press."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from portal.showing.permissions import Part, parts_of
from portal.showing.results import inputs_line
from registry.actors import Actor
from registry.packages.rule_names import ANY
from registry.packages.safety import asks_from
from registry.permissions import Action, teams_where
from worker.approvals import asking, deciding
from worker.models import Approval, Run


@dataclass(frozen=True)
class Asked:
    approval: Approval
    run: Run
    standing: str
    asks: tuple[Part, ...]
    new: tuple[Part, ...]
    inputs: str | None  # in one line; None where they are not the reader's to read
    exact: str | None
    may_decide: bool
    may_keep: bool
    skill_seen: bool

    @property
    def waits(self) -> bool:
        return self.standing == "waiting"

    @property
    def prefix(self) -> str:
        return f"{self.exact}{ANY}"

    @property
    def hours_left(self) -> int:
        left = self.approval.expires_at - timezone.now()
        return max(0, round(left.total_seconds() / 3600))


def asked_of(approval: Approval, actor: Actor) -> Asked:
    run, exact = approval.run, asking.exact_of(approval, actor)
    readable = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    may_decide = deciding.may_decide(approval, actor)
    return Asked(
        approval,
        run,
        asking.standing_of(approval),
        asks=parts_of(asks_from(approval.asks)),
        new=parts_of(asks_from(approval.new)),
        inputs=inputs_line(run.request) if readable else None,
        exact=exact,
        may_decide=may_decide,
        may_keep=exact is not None and deciding.may_keep(approval, actor),
        skill_seen=exact is not None,
    )


def asked_for_run(run: Run, actor: Actor) -> Asked | None:
    found = asking.approvals(actor).filter(run=run).first()
    return asked_of(found, actor) if found else None


def waiting_count(actor: Actor) -> int | None:
    """How many runs wait for the actor, by one query on every page; None for those who decide none."""
    decides = actor.is_administrator or teams_where(actor, Action.APPROVE)
    return Approval.objects.waiting().decidable_by(actor).count() if decides else None
