"""Tasks that wait for the user: approvals, held versions, failed imports, and missed or failed schedules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Max, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.presenters.skill.names import skill_names
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.imports.queue import is_cancelled
from registry.imports.report import load_problems
from registry.models import Import, ImportStatus, Source
from registry.review.findings import list_held_versions
from worker.models import FAILED_STATUSES, Approval, FiringState, Schedule, ScheduleFiring

MAX_PER_KIND = 4
_MAX_APPROVALS = 50  # number of requests read and grouped
_SHOWN_FOR = timedelta(days=7)  # older failed imports and schedules are not shown


@dataclass(frozen=True)
class Need:
    """One task to decide or repair. ``kind`` is "approval", "held", "import" or "schedule"."""

    kind: str
    icon: str
    text: str
    detail: str
    url: str
    action: str
    at: datetime


@dataclass(frozen=True)
class Needs:
    """The tasks that wait for the user. ``omitted`` has the URL and the label of the full list of each kind
    that has more tasks than ``rows`` shows.
    """

    rows: tuple[Need, ...]
    omitted: tuple[tuple[str, str], ...]


@reader
def needs_of(actor: Actor) -> Reads[Needs]:
    """The tasks that the actor may decide or repair, at most ``MAX_PER_KIND`` of each kind."""
    rows: list[Need] = []
    omitted = []
    approvals, held, imports, schedules = yield from gather(
        _approvals(actor), _held(actor), _failed_imports(actor), _failed_schedules(actor)
    )
    for found, url, label in (
        (approvals, reverse("approvals"), _("All approvals")),
        (held, reverse("held"), _("All held versions")),
        (imports, reverse("imports"), _("All imports")),
        (schedules, reverse("schedules"), _("All schedules")),
    ):
        rows += found[:MAX_PER_KIND]
        if len(found) > MAX_PER_KIND:
            omitted.append((url, label))
    return Needs(tuple(rows), tuple(omitted))


def _approvals(actor: Actor) -> Reads[list[Need]]:
    """One task per caller and skill, the oldest request first."""
    waiting = Approval.objects.waiting().decidable_by(actor).select_related("run__caller")
    waiting = waiting.defer("run__request", "run__result", "run__files").order_by("run__pk")
    groups: dict[tuple[str, str], list[Approval]] = {}
    yield (waiting := waiting[:_MAX_APPROVALS])
    for approval in waiting:
        groups.setdefault((_caller(approval), approval.run.skill_label), []).append(approval)
    names = yield from skill_names.reads([group[0].run for group in groups.values()], actor)
    needs = []
    for (caller, label), group in groups.items():
        first, count = group[0], len(group)
        text = _("%(caller)s wants to run %(skill)s") % {"caller": caller, "skill": names[first.run.pk]}
        if count > 1:
            detail = ngettext("%(n)s request", "%(n)s requests", count) % {"n": count}
            url = f"{reverse('approvals')}?{urlencode({'skill': label})}"
        else:
            detail = _permissions(len(first.unsafe_properties))
            url = reverse("run", args=[first.run.uid])
        needs.append(Need("approval", "ok", text, detail, url, _("Review"), first.run.created_at))
    return needs


def _caller(approval: Approval) -> str:
    run = approval.run
    return run.token_name or (run.caller.username if run.caller else "–")


def _permissions(count: int) -> str:
    return ngettext("%(n)s permission needs review", "%(n)s permissions need review", count) % {"n": count}


def _held(actor: Actor) -> Reads[list[Need]]:
    yield (versions := list_held_versions(actor)[: MAX_PER_KIND + 1])
    needs = []
    for version in versions:
        address = [version.skill.team.slug, version.skill.slug, version.number]
        text = _("%(version)s is held for review") % {"version": f"{version.skill.name} {version.number}"}
        publisher = version.published_by.username if version.published_by else "–"
        detail = _("Published by %(user)s") % {"user": publisher}
        held_at = version.held_at or version.created_at
        url = reverse("findings", args=address)
        needs.append(Need("held", "lock", text, detail, url, _("Review"), held_at))
    return needs


def _failed_imports(actor: Actor) -> Reads[list[Need]]:
    """A task for each visible source whose last import failed within ``_SHOWN_FOR``, not for a
    cancelled import.
    """
    since = timezone.now() - _SHOWN_FOR
    recent = Import.objects.filter(source__in=Source.objects.visible_to(actor), created_at__gte=since)
    seen: set[int] = set()
    yield (reports := recent.select_related("source").order_by("-pk")[:100])
    needs = []
    for report in reports:
        if report.source_id in seen:
            continue
        seen.add(report.source_id)
        if report.status == ImportStatus.FAILED and not is_cancelled(report):
            text = _("Import of %(source)s failed") % {"source": report.source.location}
            url = reverse("import", args=[report.uid])
            detail, at = _problem(report), report.created_at
            needs.append(Need("import", "download", text, detail, url, _("View import"), at))
    return needs


def _failed_schedules(actor: Actor) -> Reads[list[Need]]:
    """A task for each schedule with a problem, of the actor or of a team that they maintain.

    A problem means that the newest due time was missed or refused, or that its run failed.
    """
    schedules = Schedule.objects.readable_by(actor).values("pk")
    decided = ScheduleFiring.objects.filter(schedule__in=schedules, due__gte=timezone.now() - _SHOWN_FOR)
    newest = decided.exclude(state=FiringState.PENDING).values("schedule").annotate(key=Max("pk"))
    texts = {
        FiringState.MISSED.value: _("Schedule %(name)s missed a run"),
        FiringState.REFUSED.value: _("Schedule %(name)s could not start a run"),
        FiringState.STARTED.value: _("The last run of schedule %(name)s failed"),
    }
    failed = Q(state__in=(FiringState.MISSED, FiringState.REFUSED)) | Q(run__status__in=FAILED_STATUSES)
    rows = ScheduleFiring.objects.filter(failed, pk__in=newest.values("key")).select_related(
        "schedule", "run"
    )
    yield (firings := rows.order_by("-due")[: MAX_PER_KIND + 1])
    needs = []
    for firing in firings:
        text = texts[firing.state] % {"name": firing.schedule.name or firing.schedule.skill_label}
        url = reverse("schedule", args=[firing.schedule.uid])
        detail = firing.run.failure_code if firing.run else firing.schedule.skill_label
        needs.append(Need("schedule", "queued", text, detail, url, _("View schedule"), firing.last_due))
    return needs


def _problem(report: Import) -> str:
    """The import's first problem that is not about one row, in the reader's language; "" if there is none."""
    return next((problem.message(_) for problem in load_problems(report)), "")
