"""The limits of a team's runs, CPU time and stored bytes, with a notice when a limit is nearly used up."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, Sum

from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, require
from registry.models import Team
from registry.packages.problems import Problem
from worker.models import Artifact, Run, RunStatus, TeamDailyUsage, TeamLimits
from worker.quotas import errors, sql

NAMES = ("concurrent_runs", "runs_per_day", "cpu_seconds_per_day", "stored_bytes")
MAX_LIMIT = 2**53
WARN_SHARE = 0.8
_CODES = {
    "runs_per_day": errors.TEAM_RUNS_EXCEEDED,
    "cpu_seconds_per_day": errors.TEAM_CPU_EXCEEDED,
    "stored_bytes": errors.TEAM_BYTES_EXCEEDED,
}


@dataclass(frozen=True)
class LimitUsage:
    """A limit of a team and its usage. A ``limit`` of 0 means no limit; ``own`` is True if it was set for
    this team.
    """

    name: str
    used: int
    limit: int
    own: bool

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 0.0

    @property
    def is_near(self) -> bool:
        return self.share >= WARN_SHARE

    @property
    def is_spent(self) -> bool:
        return self.limit > 0 and self.used >= self.limit


def usage_of(team: Team, names: Iterable[str] = NAMES) -> tuple[LimitUsage, ...]:
    """The team's limits with these names, in this order, and their current usage."""
    day = TeamDailyUsage.objects.filter(team=team, day=today()).first() or TeamDailyUsage()
    used = {
        "concurrent_runs": lambda: _running(team),
        "runs_per_day": lambda: day.runs,
        "cpu_seconds_per_day": lambda: day.cpu_ms // 1000,
        "stored_bytes": lambda: _stored_bytes(team),
    }
    own = TeamLimits.objects.filter(team=team).first()
    return tuple(
        LimitUsage(name, used[name](), _limit(own, name), getattr(own, name, None) is not None)
        for name in names
    )


def set_limits(team: Team, limits: Mapping[str, int | None], actor: Actor) -> None:
    """Sets the given limits (None: the site's default) and keeps the others, with an audit entry.

    Raises TEAM_LIMIT_INVALID for an unknown name or a value out of range, and FORBIDDEN unless the actor is
    an administrator without a token.
    """
    require(actor, Action.LIMITS, team=team)
    for name, value in limits.items():
        if name not in NAMES or (value is not None and not 0 <= value <= MAX_LIMIT):
            raise errors.TEAM_LIMIT_INVALID.refusal(name=name[:40], most=MAX_LIMIT).at(name[:40])
    with transaction.atomic():
        TeamLimits.objects.update_or_create(team=team, defaults=dict(limits))
        audit.record(actor, "team.limits", str(team), team=team, **limits)


def count_run(team: Team | None) -> None:
    """Counts a new run of the team, in the transaction that inserts the run. Does nothing if ``team`` is
    None.

    Raises TEAM_RUNS_EXCEEDED, TEAM_CPU_EXCEEDED or TEAM_BYTES_EXCEEDED if that limit is used up.
    """
    if team is None:
        return
    own = TeamLimits.objects.filter(team=team).first()
    day = _day(team)
    _require_unspent(team, "cpu_seconds_per_day", day.cpu_ms // 1000, _limit(own, "cpu_seconds_per_day"))
    if limit := _limit(own, "stored_bytes"):
        _require_unspent(team, "stored_bytes", _stored_bytes(team), limit)
    rows = TeamDailyUsage.objects.filter(pk=day.pk)
    limit = _limit(own, "runs_per_day")
    if not (rows.filter(runs__lt=limit) if limit else rows).update(runs=F("runs") + 1):
        _require_unspent(team, "runs_per_day", limit, limit)


def count_cpu(team_id: int | None, seconds: float) -> None:
    """Adds the CPU time of an attempt to its team's usage of the day."""
    if team_id is None or seconds <= 0:
        return
    day, milliseconds = today(), round(seconds * 1000)
    if not sql.add_cpu_time(team_id, day, milliseconds) and Team.objects.filter(pk=team_id).exists():
        _day(Team(pk=team_id))
        sql.add_cpu_time(team_id, day, milliseconds)


def warnings_of(team: Team | None) -> Iterator[Problem]:
    """Yields a notice for each limit that is at least 80 % used, except that of concurrent runs."""
    own = TeamLimits.objects.filter(team=team).first() if team else None
    limited = [name for name in _CODES if _limit(own, name)]
    for use in usage_of(team, limited) if team and limited else ():
        if use.is_near:
            percent = min(int(use.share * 100), 100)
            yield errors.TEAM_LIMIT_NEAR.problem(
                team=str(team), name=use.name, percent=percent, limit=use.limit
            )


def blocking_limit(run: Run) -> int:
    """The limit of concurrent runs that delays a queued run; 0 if the run does not wait for the limit."""
    if run.status != RunStatus.QUEUED or run.team is None:
        return 0
    (use,) = usage_of(run.team, ["concurrent_runs"])
    return use.limit if use.is_spent else 0


def today() -> date:
    return datetime.now(UTC).date()


def _until_tomorrow() -> int:
    now = datetime.now(UTC)
    return 86_400 - (now.hour * 60 + now.minute) * 60 - now.second


def _day(team: Team) -> TeamDailyUsage:
    try:
        with transaction.atomic():
            return TeamDailyUsage.objects.get_or_create(team_id=team.pk, day=today())[0]
    except IntegrityError:  # the team was deleted
        return TeamDailyUsage()


def _limit(own: TeamLimits | None, name: str) -> int:
    value = getattr(own, name, None)
    return int(settings.SKILLQUAY_TEAM_LIMITS[name] if value is None else value)


def _running(team: Team) -> int:
    """The number of running runs. Starts at those of all teams, because SQLite would start at the team's."""
    running = Run.objects.filter(status=RunStatus.RUNNING, depth=0)
    return int(running.aggregate(number=Count("pk", filter=Q(team=team)))["number"])


def _stored_bytes(team: Team) -> int:
    return Artifact.objects.filter(team_key=team.pk).aggregate(size=Sum("size"))["size"] or 0


def _require_unspent(team: Team, name: str, used: int, limit: int) -> None:
    if limit and used >= limit:
        raise _CODES[name].refusal(team=str(team), limit=limit, retry_after_s=_until_tomorrow())


def usage_document(team: Team, actor: Actor) -> dict[str, object]:
    """The team's limits with their usage, as a document; ``limit`` is None for no limit.

    Raises FORBIDDEN like ``require_reader``.
    """
    require_reader(team, actor)
    limits = [
        {
            "name": use.name,
            "used": use.used,
            "limit": use.limit or None,
            "overridden": use.own,
            "near_limit": use.is_near,
            "exhausted": use.is_spent,
        }
        for use in usage_of(team)
    ]
    return {"team": team.slug, "limits": limits}


def require_reader(team: Team, actor: Actor) -> None:
    """Raises FORBIDDEN unless the actor is a member of the team or an administrator."""
    if not (actor.is_administrator or team.pk in actor.team_ids):
        raise FORBIDDEN.refusal(action="read the usage of a team")
