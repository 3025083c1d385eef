"""The audit trail: adds entries, and reads them for administrators and a team's maintainers and owners."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_

from django.db.models import Case, F, Q, QuerySet, Value, When

from registry.audit_chain.links import SHELL
from registry.identity import client_address
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import AuditEntry, Capacity, Membership, Team

# The kinds of actions that each group of the filter has. The kind is the part before the first period.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "skills": ("skill", "version", "channel", "canonical", "collection"),
    "review": ("finding", "report"),
    "people": ("user", "person", "team", "member", "token", "install_link"),
    "permissions": ("rule", "approval", "secret"),
    "runs": ("run", "run_batch", "share_link", "memory", "error_group"),
    "triggers": ("phrase", "phrases", "trigger_test", "trigger_tests"),
    "automation": ("event", "webhook", "subscription", "source", "import", "schedule", "notification"),
    "site": ("site", "sandbox", "glossary"),
}
_ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class AuditFilter:
    """Selects the entries that match every given field. ``since`` and ``until`` are days in UTC, both
    included.
    """

    person: str = ""
    group: str = ""
    target: str = ""
    since: date | None = None
    until: date | None = None


def record(
    actor: Actor, action: str, target: str, *, team: Team | None = None, **detail: object
) -> AuditEntry:
    """Adds one entry in the caller's transaction, so that the entry and the change commit together."""
    acting = actor.operator or actor
    return AuditEntry.objects.create(
        user=acting.user,
        as_user=actor.user if actor.operator else None,
        capacity=_capacity(actor, team),
        token_name=actor.token.name if actor.token else SHELL if acting.is_shell else "",
        address=client_address.current()[:45],
        team=team,
        action=action,
        target=target[:200],
        detail=detail,
    )


def entries(by: Actor, chosen: AuditFilter, *, team: Team | None = None) -> QuerySet[AuditEntry]:
    """The entries of the team, or of the whole site, that match the filter.

    Raises Refusal unless the actor may change the team's settings; for the site, unless the actor is an
    administrator. ``shown_address`` is empty if the actor may not see the address: maintainers see the
    addresses of their team's present members, administrators see all.
    """
    require(by, Action.SETTINGS if team else Action.USERS, team=team, even_archived=True)
    rows = AuditEntry.objects.select_related("user", "as_user", "team").filter(*_conditions(chosen))
    rows = rows.filter(team=team) if team else rows
    if by.is_administrator:
        return rows.annotate(shown_address=F("address"))
    members = Q(user__in=Membership.objects.filter(team=team).values("user"))
    return rows.annotate(shown_address=Case(When(members, then=F("address")), default=Value("")))


def newest_first(rows: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """Yields the entries, newest first. Reads them in batches, so that neither memory nor a read transaction
    grows with their number.
    """
    batch = list(rows.order_by("-pk")[:_ROWS_AT_ONCE])
    while batch:
        yield from batch
        batch = list(rows.filter(pk__lt=batch[-1].pk).order_by("-pk")[:_ROWS_AT_ONCE])


def _capacity(actor: Actor, team: Team | None) -> str:
    """The capacity in which the actor acts: service account, or administrator outside the team; otherwise
    "".
    """
    if actor.user and actor.user.is_service:
        return Capacity.SERVICE_ACCOUNT
    if team is None or not actor.is_administrator:
        return ""
    is_member = Membership.objects.filter(team=team, user=actor.user).exists()
    return "" if is_member else Capacity.ADMINISTRATOR


def _conditions(chosen: AuditFilter) -> Iterator[Q]:
    if chosen.person:
        yield Q(user__username=chosen.person) | Q(as_user__username=chosen.person)
    if chosen.group:
        yield reduce(or_, (Q(action__startswith=f"{kind}.") for kind in GROUPS[chosen.group]))
    if chosen.target:
        yield Q(target__icontains=chosen.target)
    if chosen.since:
        yield Q(at__gte=_midnight(chosen.since))
    if chosen.until:
        yield Q(at__lt=_midnight(chosen.until) + timedelta(days=1))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
