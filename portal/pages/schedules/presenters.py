"""Presents schedules and their firings as table rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.presenters.skill.strip import LENGTH, Strip, strip_of_outcomes
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.identity.tokens import in_state, managed_tokens
from registry.models import Skill, Team, Token
from worker.models import Schedule, ScheduleFiring, ScheduleKind
from worker.run_views.sql import last_firing_ids
from worker.schedules import run_as
from worker.schedules.documents import stored_problem

_MAX_VERSIONS = 50
_HEAVY = ("run__request", "run__result", "run__files")


@dataclass(frozen=True)
class ScheduleRow:
    schedule: Schedule
    timing: str
    last: ScheduleFiring | None  # the newest firing
    strip: Strip  # the outcomes of the last firings


def schedule_rows(schedules: Iterable[Schedule]) -> list[ScheduleRow]:
    rows = list(schedules)
    last: defaultdict[int, list[ScheduleFiring]] = defaultdict(list)
    firings = ScheduleFiring.objects.filter(pk__in=last_firing_ids([row.pk for row in rows], LENGTH))
    for firing in firings.select_related("run").defer(*_HEAVY).order_by("-due", "-pk"):
        last[firing.schedule_id].append(firing)
    return [
        ScheduleRow(row, timing_text(row), next(iter(last[row.pk]), None), _strip(last[row.pk]))
        for row in rows
    ]


def _strip(firings: Iterable[ScheduleFiring]) -> Strip:
    """The strip of the firings' runs, or of their states if they started no run."""
    return strip_of_outcomes((each.run.status if each.run else each.state, each.due) for each in firings)


def timing_text(schedule: Schedule) -> str:
    """The timing in words. A cron expression is returned unchanged. "" for a schedule that fires once."""
    if schedule.kind == ScheduleKind.CRON:
        return schedule.cron
    seconds = schedule.every_s or 0
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds and seconds % unit == 0:
            return _interval(name, seconds // unit)
    return _interval("seconds", seconds) if seconds else ""


def _interval(unit: str, count: int) -> str:
    texts = {
        "days": ngettext("Every day", "Every %(count)d days", count),
        "hours": ngettext("Every hour", "Every %(count)d hours", count),
        "minutes": ngettext("Every minute", "Every %(count)d minutes", count),
        "seconds": ngettext("Every second", "Every %(count)d seconds", count),
    }
    return texts[unit] % {"count": count} if "%(count)" in texts[unit] else texts[unit]


def firing_rows(firings: Iterable[ScheduleFiring]) -> Iterator[dict[str, Any]]:
    for firing in firings:
        yield {"firing": firing, "problem": stored_problem(firing.problem)}


@reader
def version_choices(skill: Skill, chosen: str) -> Reads[list[tuple[str, Any]]]:
    """Choices of ``ScheduleForm.version``: the skill's channels and newest versions, and ``chosen``."""
    names = skill.channels.order_by("name").values_list("name", flat=True)
    numbers = skill.versions.order_by("-created_at").values_list("number", flat=True)[:_MAX_VERSIONS]
    yield names, numbers
    channels = ["latest", *names]
    follow = [(f"channel:{name}", _("Follow the channel %(name)s") % {"name": name}) for name in channels]
    pinned = [(f"version:{number}", _("Stay on %(version)s") % {"version": number}) for number in numbers]
    known = {value for value, _label in (*follow, *pinned)}
    return [*follow, *pinned, *([(chosen, chosen.partition(":")[2])] if chosen not in known else [])]


@reader
def name_choices(actor: Actor, team: Team | None) -> Reads[list[tuple[str, str | Promise]]]:
    """Choices of ``ScheduleForm.run_as``: the actor, their active tokens with the scope to run skills, and
    the service accounts of ``team`` that they may use.
    """
    own = actor.user.username if actor.user else ""
    tokens = in_state(managed_tokens(actor).filter(owner=actor.user), "active", timezone.now()).order_by(
        "name"
    )
    accounts, _tokens = yield from gather(run_as.accounts.reads(team, actor), reads_of(tokens))
    named = [(f"user:{each.username}", each.username) for each in accounts]
    return [
        (f"user:{own}", _("%(user)s (you)") % {"user": own}),
        *[(value, _("%(name)s (service account)") % {"name": name}) for value, name in named],
        *[
            (f"token:{token.uid}", _("%(name)s (your token)") % {"name": token.name})
            for token in tokens
            if _may_run(token)
        ],
    ]


def _may_run(token: Token) -> bool:
    return "run" in token.scopes
