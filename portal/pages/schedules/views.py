"""Views of schedules: the list, one schedule with its firings, and the actions."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_page
from portal.forms.errors import show_refusals
from portal.pages.schedules.forms import MISSED_RUNS, PauseForm, ScheduleFilter
from portal.pages.schedules.presenters import firing_rows, schedule_rows, timing_text
from portal.presenters.content.text import json_text
from registry.identity.middleware import ActorRequest
from registry.rates.limits import RateLimit, count_request
from worker.core import clock
from worker.models import FiringState, Schedule, ScheduleState
from worker.schedules import change
from worker.schedules.documents import file_documents, stored_problem
from worker.schedules.timing import timing_of

PAGE = 50


@signed_in_page
def listing(request: ActorRequest) -> HttpResponse:
    filters = ScheduleFilter(request.GET)
    schedules = change.schedules(request.actor)
    filters.suggest_skills(schedules)
    rows = filters.narrow(schedules, request.actor).order_by("state", "next_at", "-pk")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    context = {"rows": schedule_rows(page), "page": page, "filters": filters, "now": clock.now()}
    return render(request, "schedules/list.html", context)


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    firings = schedule.firings.select_related("run").order_by("-due", "-pk")
    pages = Paginator(firings, PAGE).get_page(request.GET.get("page"))
    readable = Schedule.objects.readable_by(request.actor).filter(pk=schedule.pk).exists()
    active = schedule.state == ScheduleState.ACTIVE
    context = {
        "schedule": schedule,
        "timing": timing_text(schedule),
        "missed_runs": MISSED_RUNS[schedule.catch_up],
        "next_runs": timing_of(schedule).next_runs(clock.now()) if active else [],
        "rows": firing_rows(pages),
        "is_firing": any(each.state == FiringState.PENDING for each in pages),
        "page": pages,
        "request_text": json_text(schedule.request) if readable else None,
        "files": file_documents(schedule) if readable else [],
        "problem": stored_problem(schedule.pause_problem),
        "may_change": change.may_change(schedule, request.actor),
        "pause_form": PauseForm(),
    }
    return render(request, "schedules/page.html", context)


@signed_in_action
def pause(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    with show_refusals(request):
        change.pause(schedule, request.actor, request.POST.get("reason", "")[:1000])
        undo = reverse("schedule-resume", args=[uid])
        messages.success(request, _("The schedule was paused."), extra_tags=undo)
    return redirect("schedule", uid)


@signed_in_action
def resume(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    with show_refusals(request):
        change.resume(schedule, request.actor)
        messages.success(request, _("The schedule was resumed."))
    return redirect("schedule", uid)


@signed_in_action
def run_now(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    count_request(request, request.actor, RateLimit.RUN)
    with show_refusals(request):
        change.run_now(schedule, request.actor)
        messages.success(
            request, _("The history shows the run when it starts, or the reason why no run started.")
        )
    return redirect("schedule", uid)


@signed_in_action
def delete(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.find(uid, request.actor)
    with show_refusals(request):
        change.delete(schedule, request.actor)
        text = _("The schedule %(name)s was deleted.") % {"name": schedule.name}
        messages.success(request, text, extra_tags=reverse("schedule-restore", args=[uid]))
        return redirect("schedules")
    return redirect("schedule", uid)


@signed_in_action
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    schedule = change.restore(uid, request.actor)
    messages.success(request, _("The schedule %(name)s was restored.") % {"name": schedule.name})
    return redirect("schedule", uid)
