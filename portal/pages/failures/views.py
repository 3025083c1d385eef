"""Views of error groups: the list, one group, and its actions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from portal.context import navigation_counts
from portal.decorators import signed_in_action, signed_in_page
from portal.forms.errors import show_refusals
from portal.pages.failures.bulk import MAX_SELECTED
from portal.pages.failures.forms import (
    GroupFilterForm,
    assignees,
    version_numbers,
    version_to_resolve,
)
from portal.pages.failures.presenters import first_day, trend_of
from portal.pages.runs.presenters import log as run_log
from portal.pages.runs.presenters.failure import error_lines
from portal.presenters.explanations import explain, failure_text, group_pattern, group_title
from registry.core.sql import read_together, reads_of
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.models import Skill, Version
from worker.failures import changes
from worker.failures.groups import (
    GroupView,
    Position,
    callers_of,
    find_group,
    list_groups,
    runs_of,
    versions_of,
)
from worker.failures.newest import failures_per_day
from worker.models import ErrorGroup, Run
from worker.run_views.cause import cause_of

PAGE = MAX_SELECTED
_SHOWN_RUNS = 10
_LOG_LINES = 10
_OFFERED_VERSIONS = 20
_HEAVY = ("request", "result", "files")


@signed_in_page
def group_list(request: ActorRequest) -> HttpResponse:
    """Lists the error groups of runs that the actor can see, sorted by newest failure."""
    form = GroupFilterForm(request.GET, request.actor)
    after = _position(request.GET.get("after", ""))
    found = list_groups(request.actor, form.chosen(), limit=PAGE + 1, after=after)
    views = found[:PAGE]
    groups = [view.group for view in views]
    first = first_day()
    days, people, counts, _suggested = read_together(
        failures_per_day.reads(groups, request.actor, first=first),
        assignees.reads(view.group for view in views if view.may_change),
        navigation_counts.reads(request.actor),
        form.suggest_skills(groups, request.actor),
    )
    context: dict[str, Any] = counts | {
        "trends": {key: trend_of(found, first) for key, found in days.items()},
        "assignees": people,
        "may_select": any(view.may_change for view in views),
        "form": form,
        "views": views,
        "older": _older(request, views[-1]) if len(found) > PAGE else "",
        "newest": _newest(request) if after else "",
    }
    return render(request, "failures/list.html", context)


@signed_in_page
def group(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one group: its cause, versions, callers and newest runs, limited to those that the actor
    can see.
    """
    view = find_group(uid, request.actor)
    found = view.group
    actor = request.actor
    runs = runs_of(found, actor).select_related("caller").defer(*_HEAVY).order_by("-id")[:_SHOWN_RUNS]
    seen = Skill.objects.visible_to(actor).filter(pk=found.skill_id).values("pk")
    first = first_day()
    versions, callers, numbers, people, days, _rows = read_together(
        versions_of.reads(found, actor),
        callers_of.reads(found, actor),
        version_numbers.reads(found),
        assignees.reads([found]),
        failures_per_day.reads([found], actor, first=first),
        reads_of(runs, seen),
    )
    context: dict[str, Any] = {
        "view": view,
        "group": found,
        "why": explain(found.failure_code, {}),
        "title": group_title(view),
        "pattern": group_pattern(view),
        "cause": failure_text(view.newest) if view.newest else "",
        "runs": runs,
        "trend": trend_of(days[found.pk], first),
        "versions": versions,
        "callers": callers,
        "skill_seen": bool(seen),
        **_log_end(view.newest),
    }
    if view.may_change:
        resolving = version_to_resolve(numbers, versions)
        context |= {"numbers": numbers, "assignees": people, "resolving": resolving}
    if runs:
        numbers = context.get("numbers") or _visible_numbers(found, request.actor)
        context["batch"] = {"fields": [("error_group", uid)], "ended": view.count, "numbers": numbers}
    return render(request, "failures/group.html", context)


def _log_end(run: Run | None) -> dict[str, Any]:
    """The last lines of the log of the group's newest run, if the actor can read it."""
    if run is None:
        return {}
    attempt = max(run.attempt, 1)
    lines = run_log.tail(run, attempt, running=False).lines[-_LOG_LINES:]
    return {"attempt": attempt, "log_lines": lines, "error_lines": error_lines(lines, cause_of(run))}


def _visible_numbers(group: ErrorGroup, actor: Actor) -> list[str]:
    versions = Version.objects.visible_to(actor).filter(skill=group.skill_id).order_by("-precedence")
    return list(versions.values_list("number", flat=True)[:_OFFERED_VERSIONS])


@signed_in_action
def resolve(request: ActorRequest, uid: str) -> HttpResponse:
    """Marks the group as resolved in a version."""
    found = find_group(uid, request.actor).group
    with show_refusals(request):
        changes.resolve(found, request.POST.get("version", ""), request.actor)
        messages.success(request, _("Error group resolved."))
    return redirect("error-group", uid)


@signed_in_action
def reopen(request: ActorRequest, uid: str) -> HttpResponse:
    found = find_group(uid, request.actor).group
    with show_refusals(request):
        changes.reopen(found, request.actor)
        messages.success(request, _("Error group reopened."))
    return redirect("error-group", uid)


@signed_in_action
def assign(request: ActorRequest, uid: str) -> HttpResponse:
    """Assigns the group to a member of the skill's team, or to no one."""
    found = find_group(uid, request.actor).group
    with show_refusals(request):
        changes.assign(found, request.POST.get("user", ""), request.actor)
        messages.success(request, _("Assignee changed."))
    return redirect("error-group", uid)


def _position(text: str) -> Position | None:
    """The position in the list after which the page starts, parsed from the URL; None if missing or
    invalid.
    """
    moment, _tilde, uid = text.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)), uid[:26]


def _older(request: ActorRequest, last: GroupView) -> str:
    at, uid = last.position
    return _address(request, after=f"{at.isoformat()}~{uid}")


def _newest(request: ActorRequest) -> str:
    return _address(request)


def _address(request: ActorRequest, **more: Any) -> str:
    query = {name: value for name, value in request.GET.items() if name != "after" and value} | more
    return f"?{urlencode(query)}"
