"""Retention policies: the periods for which the site keeps runs, and shorter periods of teams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, require
from registry.models import Team
from worker.models import RetentionPass, RetentionPolicy, RunStatus
from worker.retention.errors import RETENTION_ABOVE_SITE, RETENTION_INVALID

MAX_DAYS = 36_500
MAX_KEPT = 100_000
MAX_BYTES = 2**53
_DAYS = {
    RunStatus.SUCCEEDED.value: "succeeded_days",
    RunStatus.FAILED.value: "failed_days",
    RunStatus.TIMED_OUT.value: "failed_days",
    RunStatus.LOST.value: "failed_days",
    RunStatus.CANCELLED.value: "other_days",
    RunStatus.REFUSED.value: "other_days",
}


@dataclass(frozen=True)
class Policy:
    """The values of a policy; None means no limit. ``RetentionPolicy`` describes each value."""

    succeeded_days: int | None = None
    failed_days: int | None = None
    other_days: int | None = None
    artifact_days: int | None = None
    log_days: int | None = None
    artifact_bytes: int | None = None
    keep_last: int | None = None

    def expires(self, status: str, finished_at: datetime, now: datetime) -> bool:
        """Whether a run with this status is old enough to be removed."""
        return _is_older(finished_at, getattr(self, _DAYS[status]), now)

    def expires_artifacts(self, finished_at: datetime, now: datetime) -> bool:
        return _is_older(finished_at, self.artifact_days, now)

    def expires_log(self, finished_at: datetime, now: datetime) -> bool:
        return _is_older(finished_at, self.log_days, now)

    @property
    def shortest_days(self) -> int | None:
        """The smallest age in days at which the policy removes anything; None if it removes nothing by
        age.
        """
        ages = (self.succeeded_days, self.failed_days, self.other_days, self.artifact_days, self.log_days)
        return min((days for days in ages if days is not None), default=None)

    @property
    def keeps_all(self) -> bool:
        return self.shortest_days is None and self.artifact_bytes is None


NAMES = tuple(field.name for field in fields(Policy))
MAXIMA: Mapping[str, int] = dict.fromkeys(NAMES, MAX_DAYS) | {
    "artifact_bytes": MAX_BYTES,
    "keep_last": MAX_KEPT,
}


class Policies(NamedTuple):
    """The site's policy and, by the team's primary key, the policies of teams that have their own."""

    site: Policy
    teams: Mapping[int, Policy]

    def of(self, team_id: int | None) -> tuple[Policy, ...]:
        """The policies that apply to runs of the team; each of them can remove runs."""
        own = self.teams.get(team_id) if team_id is not None else None
        return (self.site, own) if own else (self.site,)


def load_policies() -> Policies:
    rows = {row.team_id: _policy(row) for row in RetentionPolicy.objects.all()}
    site = rows.pop(None, Policy())
    return Policies(site, {team: policy for team, policy in rows.items() if team is not None})


def policy_of(team: Team | None) -> Policy:
    """The team's own policy; for None, the site's policy."""
    rows = RetentionPolicy.objects.filter(team=team) if team else RetentionPolicy.objects.filter(is_site=True)
    row = rows.first()
    return _policy(row) if row else Policy()


def effective_policy(site: Policy, own: Policy) -> Policy:
    """The policy that applies to a team, as its page shows it: for each value, the smaller one of both
    policies.

    A skill's newest runs are kept only if every policy that removes runs keeps them.
    """
    values: dict[str, int | None] = {}
    for name in NAMES:
        both = [value for value in (getattr(site, name), getattr(own, name)) if value is not None]
        values[name] = min(both, default=None)
    kept = [policy.keep_last or 0 for policy in (site, own) if policy.shortest_days is not None]
    return Policy(**values | {"keep_last": min(kept, default=0) or None})


def set_policy(team: Team | None, changes: Mapping[str, int | None], actor: Actor) -> Policy:
    """Sets the given values of the team's policy, or of the site's for None, with an audit entry.

    The next removal pass becomes due at once. Raises the refusals of ``validated`` and ``require_editor``.
    """
    require_editor(team, actor)
    changed = validated(team, changes)
    with transaction.atomic():
        which = {"team": team} if team else {"is_site": True}
        RetentionPolicy.objects.update_or_create(**which, defaults=dict(changes))
        action, target = ("team.retention", str(team)) if team else ("site.retention", "site")
        audit.record(actor, action, target, team=team, **dict(changes))
        RetentionPass.objects.update(due_at=timezone.now())
    return changed


def validated(team: Team | None, changes: Mapping[str, int | None]) -> Policy:
    """The team's policy (or the site's) with the changes. Raises RETENTION_INVALID for a value out of range,
    and RETENTION_ABOVE_SITE for a team's value above the site's.
    """
    site = Policy() if team is None else policy_of(None)
    for name, value in changes.items():
        if value is None:
            continue
        if not 1 <= value <= MAXIMA[name]:
            raise RETENTION_INVALID.refusal(most=MAXIMA[name]).at(name)
        most = getattr(site, name)
        if most is not None and value > most:
            raise RETENTION_ABOVE_SITE.refusal(most=most).at(name)
    return Policy(**(asdict(policy_of(team)) | dict(changes)))


def require_reader(team: Team | None, actor: Actor) -> None:
    """Raises FORBIDDEN unless the actor is a member of the team or an administrator."""
    if not (actor.is_administrator or (team and team.pk in actor.team_ids)):
        raise FORBIDDEN.refusal(action="read the retention policy")


def require_editor(team: Team | None, actor: Actor) -> None:
    """Raises a Refusal unless the actor may set the policy of the team, or the site's for None."""
    require(actor, Action.SETTINGS if team else Action.LIMITS, team=team)


def _policy(row: RetentionPolicy) -> Policy:
    return Policy(*(getattr(row, name) for name in NAMES))


def _is_older(finished_at: datetime, days: int | None, now: datetime) -> bool:
    return days is not None and finished_at < now - timedelta(days=days)
