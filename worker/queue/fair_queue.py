"""Fair order between teams: the fewest running runs first, then the team that was served longest ago."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Q

from worker.models import Run, RunQuerySet, RunStatus
from worker.queue import sql


@dataclass(frozen=True)
class ReadyTeam:
    team: int  # 0 for runs without a team, which are served like one team
    limit: int  # limit of concurrent runs; 0 means no limit


def ready_teams() -> list[ReadyTeam]:
    """The teams that have queued runs and may start another run, in fair order."""
    default = settings.SKILLQUAY_TEAM_LIMITS["concurrent_runs"]
    free = []
    for team, served_at, team_limit, running in sql.waiting_teams():
        limit = (default if team_limit is None else team_limit) if team else 0
        if not limit or running < limit:
            free.append((running, str(served_at or ""), team, limit))
    return [ReadyTeam(team, limit) for _running, _served, team, limit in sorted(free)]


def claimable_runs(before: datetime) -> RunQuerySet:
    """Queued runs of the ready teams that became runnable at ``before`` or earlier."""
    ready = [each.team for each in ready_teams()]
    of_ready_team = Q(team__in=ready) | (Q(team=None) if 0 in ready else Q(pk=None))
    runs: RunQuerySet = Run.objects.filter(of_ready_team, status=RunStatus.QUEUED, run_after__lte=before)
    return runs


def has_reached_limit(team: ReadyTeam) -> bool:
    """Whether the team has reached its limit.

    Call ``sql.record_served`` first: it makes workers that serve the same team wait for each other.
    """
    return bool(team.limit) and sql.count_running(team.team) >= team.limit
