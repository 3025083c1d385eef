"""The callers of a skill's ended runs of the last 90 days, by number of runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from registry.identity.actors import Actor
from registry.models import Skill, User, UserKind
from registry.usage.scores import HISTORY_DAYS
from worker.daily_runs.run_counts import RunCounts, count_runs
from worker.models import Run
from worker.models.daily_runs import sees_all_runs

MAX_RUNS = 2000  # limit of the newest runs that are read


class CallerKind(models.TextChoices):
    PERSON = "person", _("Person")
    AGENT = "agent", _("Agent")
    SERVICE = "service", _("Service account")


@dataclass(frozen=True)
class Caller:
    """A person, a token of a person or a service account. ``name`` is "" if the user was removed."""

    kind: CallerKind
    name: str
    token_name: str  # of an agent
    counts: RunCounts


@dataclass(frozen=True)
class Callers:
    rows: list[Caller]  # most runs first
    is_cut: bool  # whether there are more than ``MAX_RUNS`` runs

    @property
    def kinds(self) -> list[tuple[CallerKind, int]]:
        """Numbers of runs by kind of caller, most runs first."""
        runs = Counter[CallerKind]()
        for row in self.rows:
            runs[row.kind] += row.counts.runs
        return runs.most_common()


def callers_of(skill: Skill, actor: Actor) -> Callers:
    """The callers of the newest ``MAX_RUNS`` stored runs that the actor can see, without test cases."""
    first = timezone.now().astimezone(UTC).date() - timedelta(days=HISTORY_DAYS - 1)
    runs = Run.objects.all() if sees_all_runs(skill, actor) else Run.objects.visible_to(actor)
    runs = runs.without_cases().filter(
        skill=skill, finished_at__isnull=False, created_at__gte=datetime.combine(first, time(), UTC)
    )
    columns = runs.order_by("-id").values_list("caller", "token_name", "status")
    found = list(columns[: MAX_RUNS + 1])
    groups = Counter(found[:MAX_RUNS])
    users = User.objects.filter(pk__in={caller for caller, _token, _status in groups if caller})
    names: dict[int | None, tuple[str, str | None]] = {
        pk: (name, kind) for pk, name, kind in users.values_list("pk", "username", "kind")
    }
    counts: defaultdict[tuple[CallerKind, str, str], Counter[str]] = defaultdict(Counter)
    for (caller, token_name, status), number in groups.items():
        name, kind = names.get(caller, ("", None))
        counts[_key(name, kind, token_name)][status] += number
    rows = [Caller(*key, count_runs(statuses.items())) for key, statuses in counts.items()]
    rows.sort(key=lambda row: (-row.counts.runs, row.name, row.token_name))
    return Callers(rows, len(found) > MAX_RUNS)


def _key(name: str, user_kind: str | None, token_name: str) -> tuple[CallerKind, str, str]:
    if user_kind == UserKind.SERVICE:
        return CallerKind.SERVICE, name, ""
    return (CallerKind.AGENT if token_name else CallerKind.PERSON), name, token_name
