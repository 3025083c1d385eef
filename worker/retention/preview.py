"""Previews what retention would remove now, with the current or with proposed policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nsmallest
from itertools import islice

from django.db.models import Count, Sum
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Team
from worker.models import Artifact, Run
from worker.retention import policies
from worker.retention.plan import Candidate, Decision, make_plan

MAX_RUNS = 200_000  # limit of affected runs; a longer preview is incomplete
_BATCH = 500
_SAMPLES = 5


@dataclass
class PreviewRow:
    """Runs of one skill with one outcome that would be removed, with their child runs."""

    skill: str
    status: str
    runs: int = 0
    bytes: int = 0  # bytes of artifacts and logs


@dataclass
class Preview:
    """The result of a preview. ``artifact_runs`` and ``log_runs`` count runs that would lose only artifacts
    or log.

    ``oldest`` and ``newest`` are the earliest and latest end times of the runs that would be removed, without
    child runs. ``samples`` are ids.
    """

    rows: list[PreviewRow] = field(default_factory=list)
    oldest: datetime | None = None
    newest: datetime | None = None
    samples: list[str] = field(default_factory=list)
    artifact_runs: int = 0
    artifact_bytes: int = 0
    log_runs: int = 0
    log_bytes: int = 0
    is_complete: bool = True

    @property
    def runs(self) -> int:
        return sum(row.runs for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row.bytes for row in self.rows) + self.artifact_bytes + self.log_bytes


def preview(team: Team | None, changes: Mapping[str, int | None], actor: Actor) -> Preview:
    """The runs of the team, or of all teams for None, that would be removed after ``changes`` to the policy.

    Raises the refusals of ``policies.set_policy``.
    """
    policies.require_editor(team, actor)
    proposed = policies.validated(team, changes)
    present = policies.load_policies()
    if team is None:
        chosen, runs = policies.Policies(proposed, present.teams), Run.objects.all()
    else:
        chosen = policies.Policies(present.site, {team.pk: proposed})
        runs = Run.objects.filter(team=team)
    plan = make_plan(chosen, timezone.now(), team_id=team.pk if team else None)
    return _count(islice(plan.decisions(runs.order_by()), MAX_RUNS + 1))


def _count(decisions: Iterator[tuple[Candidate, Decision]]) -> Preview:
    found = Preview()
    rows: dict[tuple[str, str], PreviewRow] = {}
    roots: list[int] = []
    ends: list[datetime] = []
    for number, (run, decision) in enumerate(decisions):
        if number == MAX_RUNS:
            found.is_complete = False
            break
        if decision.row:
            size = run.log_bytes + (run.artifact_bytes or 0)
            _add(rows, run.skill_label, run.status, runs=1, size=size)
            roots.append(run.pk)
            ends.append(run.finished_at)
        if decision.artifacts:
            found.artifact_runs += 1
            found.artifact_bytes += run.artifact_bytes or 0
        if decision.log:
            found.log_runs += 1
            found.log_bytes += run.log_bytes
    for start in range(0, len(roots), _BATCH):
        _add_child_runs(rows, roots[start : start + _BATCH])
    found.oldest, found.newest = min(ends, default=None), max(ends, default=None)
    oldest = Run.objects.filter(pk__in=nsmallest(_SAMPLES, roots)).order_by("pk")
    found.samples = list(oldest.values_list("uid", flat=True))
    found.rows = sorted(rows.values(), key=lambda row: (-row.runs, row.skill, row.status))
    return found


def _add_child_runs(rows: dict[tuple[str, str], PreviewRow], roots: Sequence[int]) -> None:
    below = Run.objects.filter(root__in=roots).order_by().values_list("skill_label", "status")
    for skill, status, runs, size in below.annotate(runs=Count("pk"), size=Sum("log_bytes")):
        _add(rows, skill, status, runs=runs, size=size)
    files = Artifact.objects.filter(run__root__in=roots).order_by()
    for skill, status, size in files.values_list("run__skill_label", "run__status").annotate(n=Sum("size")):
        _add(rows, skill, status, runs=0, size=size)


def _add(rows: dict[tuple[str, str], PreviewRow], skill: str, status: str, *, runs: int, size: int) -> None:
    row = rows.setdefault((skill, status), PreviewRow(skill, status))
    row.runs += runs
    row.bytes += size
