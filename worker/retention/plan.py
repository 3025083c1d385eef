"""Decides what retention removes, for both the preview and the removal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import (
    BooleanField,
    Case,
    Exists,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from worker.models import Artifact, Run
from worker.retention.policies import Policies, Policy
from worker.retention.protected import protected

_Pair = tuple[int | None, int | None]  # primary keys of a team and a skill


class Candidate(NamedTuple):
    """A run that retention may remove. ``artifact_bytes`` is None if the run has no artifacts."""

    pk: int
    team_id: int | None
    skill_id: int | None
    skill_label: str
    status: str
    finished_at: datetime
    log_bytes: int
    root_id: int | None
    is_tree_protected: bool  # whether a run that this one started must be kept
    artifact_bytes: int | None


@dataclass(frozen=True)
class Decision:
    """The parts of a run that retention removes: the whole run, or only its artifacts, its log or both."""

    row: bool = False
    artifacts: bool = False
    log: bool = False

    def __bool__(self) -> bool:
        return self.row or self.artifacts or self.log


@dataclass(frozen=True)
class Plan:
    """The policies at the time ``now``, with the figures of runs that they need (``_kept_since`` and
    ``_over_size``).
    """

    policies: Policies
    now: datetime
    # The oldest of the newest runs to keep, for policies with ``keep_last``.
    kept_since: Mapping[tuple[Policy, _Pair], int] = field(default_factory=dict)
    # By team, the newest run whose artifacts are beyond the maximum size.
    over_size: Mapping[int | None, int] = field(default_factory=dict)

    def decide(self, run: Candidate) -> Decision:
        """The decision about the run. A child run is removed only with its whole tree."""
        removing = [policy for policy in self.policies.of(run.team_id) if not self._keeps(policy, run)]
        is_root = run.root_id is None and not run.is_tree_protected
        if is_root and any(policy.expires(run.status, run.finished_at, self.now) for policy in removing):
            return Decision(row=True)
        too_many = run.pk <= self.over_size.get(run.team_id, 0)
        old = any(policy.expires_artifacts(run.finished_at, self.now) for policy in removing)
        log = any(policy.expires_log(run.finished_at, self.now) for policy in removing)
        return Decision(
            artifacts=run.artifact_bytes is not None and (old or too_many), log=run.log_bytes > 0 and log
        )

    def candidates(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        """The rows of ``runs`` that may match a policy, as values for ``Candidate``."""
        must_stay = protected(self.now)
        in_tree = Run.objects.filter(root=OuterRef("pk")).filter(must_stay)
        sizes = Artifact.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(n=Sum("size"))
        rows = runs.annotate(
            # a comparison with null is neither true nor false
            must_stay=Case(
                When(must_stay, then=Value(True)), default=Value(False), output_field=BooleanField()
            ),
            is_tree_protected=Exists(in_tree),
            artifact_bytes=Subquery(sizes.values("n")),
        ).filter(must_stay=False)
        ages = [policy.shortest_days for policy in (self.policies.site, *self.policies.teams.values())]
        youngest = min((days for days in ages if days is not None), default=None)
        if not self.over_size and youngest is not None:
            rows = rows.filter(finished_at__lt=self.now - timedelta(days=youngest))
        return rows

    def decisions(self, runs: QuerySet[Run]) -> Iterator[tuple[Candidate, Decision]]:
        """Yields the runs from which the plan removes something, in the order of ``runs``."""
        for values in self.candidates(runs).values_list(*Candidate._fields).iterator():
            candidate = Candidate(*values)
            if decision := self.decide(candidate):
                yield candidate, decision

    def _keeps(self, policy: Policy, run: Candidate) -> bool:
        if policy.keep_last is None or run.skill_id is None:
            return False
        return run.pk >= self.kept_since.get((policy, (run.team_id, run.skill_id)), 0)


def make_plan(policies: Policies, now: datetime, *, team_id: int | None = None) -> Plan:
    """The plan for the current runs; with ``team_id``, only for runs of this team.

    The plan stays safe when more runs are created: it then only keeps more than necessary.
    """
    runs = Run.objects.filter(team=team_id) if team_id else Run.objects.all()
    return Plan(policies, now, _kept_since(policies, runs), _over_size(policies, runs))


def _kept_since(policies: Policies, runs: QuerySet[Run]) -> dict[tuple[Policy, _Pair], int]:
    """Maps policy, team and skill to the oldest run that ``keep_last`` keeps (primary key). Ignores child
    runs and runs of test cases.
    """
    since: dict[tuple[Policy, _Pair], int] = {}
    started = runs.filter(parent=None, case_name="", skill__isnull=False)
    scopes = [(policies.site, started)]
    scopes += [(policy, started.filter(team=team)) for team, policy in policies.teams.items()]
    for policy, scope in scopes:
        if policy.keep_last is None:
            continue
        position = Window(RowNumber(), partition_by=["team_id", "skill_id"], order_by=F("pk").desc())
        oldest = scope.annotate(position=position).filter(position=policy.keep_last)
        for team, skill, pk in oldest.values_list("team_id", "skill_id", "pk"):
            since[policy, (team, skill)] = pk
    return since


def _over_size(policies: Policies, runs: QuerySet[Run]) -> dict[int | None, int]:
    """Maps each team to the primary key of the run at which the total size of artifacts exceeds the maximum.

    Sizes are added from the newest run to older ones.
    """
    found: dict[int | None, int] = {}
    if not any(policy.artifact_bytes for policy in (policies.site, *policies.teams.values())):
        return found
    totals = runs.filter(artifacts__isnull=False).order_by().values_list("team_id")
    for team, total in totals.annotate(total=Sum("artifacts__size")):
        sizes = [policy.artifact_bytes for policy in policies.of(team) if policy.artifact_bytes is not None]
        if not sizes or total <= min(sizes):
            continue
        files = Artifact.objects.filter(run__team=team) if team else Artifact.objects.filter(run__team=None)
        used = 0
        for run, size in files.order_by("-run").values_list("run", "size").iterator():
            used += size
            if used > min(sizes):
                found[team] = run
                break
    return found
