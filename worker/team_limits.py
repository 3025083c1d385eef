"""What a team may use: runs at once, runs and CPU time a day, bytes kept; told of at four fifths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Sum

from registry import audit
from registry.actors import Actor
from registry.models import Team
from registry.packages.problems import Problem, problem, refuse
from registry.permissions import Action, require
from worker.models import Artifact, Run, Status, TeamDay, TeamLimits

NAMES = ("concurrent_runs", "runs_a_day", "cpu_seconds_a_day", "kept_bytes")
MOST = 2**53
WARNED_AT = 0.8
_CODES = {
    "runs_a_day": "TEAM_RUNS_SPENT",
    "cpu_seconds_a_day": "TEAM_CPU_SPENT",
    "kept_bytes": "TEAM_BYTES_SPENT",
}


@dataclass(frozen=True)
class Use:
    """A limit of a team and what is used of it; ``limit`` 0 is none, ``own``: it was set for the team."""

    name: str
    used: int
    limit: int
    own: bool

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 0.0

    @property
    def is_near(self) -> bool:
        return self.share >= WARNED_AT

    @property
    def is_spent(self) -> bool:
        return self.limit > 0 and self.used >= self.limit


def uses_of(team: Team, names: Iterable[str] = NAMES) -> tuple[Use, ...]:
    """Each limit with what is used of it now."""
    day = TeamDay.objects.filter(team=team, day=today()).first() or TeamDay()
    used = {
        "concurrent_runs": lambda: Run.objects.filter(team=team, status=Status.RUNNING, depth=0).count(),
        "runs_a_day": lambda: day.runs,
        "cpu_seconds_a_day": lambda: day.cpu_ms // 1000,
        "kept_bytes": lambda: _kept_bytes(team),
    }
    own = TeamLimits.objects.filter(team=team).first()
    return tuple(
        Use(name, used[name](), _limit(own, name), getattr(own, name, None) is not None) for name in names
    )


def set_limits(team: Team, limits: Mapping[str, int | None], actor: Actor) -> None:
    """Sets the named ones, null back to the site's; by administrators alone."""
    require(actor, Action.LIMITS, team=team)
    for name, value in limits.items():
        if name not in NAMES or (value is not None and not 0 <= value <= MOST):
            raise refuse("TEAM_LIMIT_INVALID", path=name[:40], name=name[:40], most=MOST)
    with transaction.atomic():
        TeamLimits.objects.update_or_create(team=team, defaults=dict(limits))
        audit.record(actor, "team.limits", str(team), team=team, **limits)


def count_run(team: Team | None) -> None:
    """Counts a run that is asked for now, in the transaction of its row; refused where something is spent."""
    if team is None:
        return
    own = TeamLimits.objects.filter(team=team).first()
    day = _day(team)
    _require(team, "cpu_seconds_a_day", day.cpu_ms // 1000, _limit(own, "cpu_seconds_a_day"))
    if most := _limit(own, "kept_bytes"):
        _require(team, "kept_bytes", _kept_bytes(team), most)
    rows = TeamDay.objects.filter(pk=day.pk)
    most = _limit(own, "runs_a_day")
    if not (rows.filter(runs__lt=most) if most else rows).update(runs=F("runs") + 1):
        _require(team, "runs_a_day", most, most)


_SPENT = "UPDATE worker_teamday SET cpu_ms = cpu_ms + %s WHERE team_id = %s AND day = %s"


def count_cpu(team_id: int | None, seconds: float) -> None:
    """Adds what an attempt used; part of the transaction that ends it, so in SQL as that is."""
    if team_id is None or seconds <= 0:
        return
    spent = (round(seconds * 1000), team_id, connection.ops.adapt_datefield_value(today()))
    with connection.cursor() as cursor:
        cursor.execute(_SPENT, spent)
        if not cursor.rowcount and Team.objects.filter(pk=team_id).exists():
            _day(Team(pk=team_id))
            cursor.execute(_SPENT, spent)


def warnings_of(team: Team | None) -> Iterator[Problem]:
    """What is nearly spent, for who asks for a run."""
    own = TeamLimits.objects.filter(team=team).first() if team else None
    held = [name for name in _CODES if _limit(own, name)]
    for use in uses_of(team, held) if team and held else ():
        if use.is_near:
            percent = min(int(use.share * 100), 100)
            yield problem("TEAM_LIMIT_NEAR", team=str(team), name=use.name, percent=percent, limit=use.limit)


def held_back_by(run: Run) -> int:
    """The limit of runs at once for which a queued run waits, though workers may be free; 0 is none."""
    if run.status != Status.QUEUED or run.team is None:
        return 0
    (use,) = uses_of(run.team, ["concurrent_runs"])
    return use.limit if use.is_spent else 0


def today() -> date:
    return datetime.now(UTC).date()


def _until_tomorrow() -> int:
    now = datetime.now(UTC)
    return 86_400 - (now.hour * 60 + now.minute) * 60 - now.second


def _day(team: Team) -> TeamDay:
    try:
        with transaction.atomic():
            return TeamDay.objects.get_or_create(team_id=team.pk, day=today())[0]
    except IntegrityError:  # the team is gone
        return TeamDay()


def _limit(own: TeamLimits | None, name: str) -> int:
    said = getattr(own, name, None)
    return int(settings.SKILLQUAY_TEAM_LIMITS[name] if said is None else said)


def _kept_bytes(team: Team) -> int:
    return Artifact.objects.filter(run__team=team).aggregate(size=Sum("size"))["size"] or 0


def _require(team: Team, name: str, used: int, most: int) -> None:
    if most and used >= most:
        raise refuse(_CODES[name], team=str(team), limit=most, retry_after_s=_until_tomorrow())


def uses_document(team: Team, actor: Actor) -> dict[str, object]:
    """For members: ``{team, limits: [{name, used, limit, own, near, spent}]}``; ``limit`` null is none."""
    require_reader(team, actor)
    limits = [
        {
            "name": use.name,
            "used": use.used,
            "limit": use.limit or None,
            "own": use.own,
            "near": use.is_near,
            "spent": use.is_spent,
        }
        for use in uses_of(team)
    ]
    return {"team": team.slug, "limits": limits}


def require_reader(team: Team, actor: Actor) -> None:
    """Refuses who is not on the team."""
    if not (actor.is_administrator or team.pk in actor.team_ids):
        raise refuse("FORBIDDEN", action="read what a team uses")
