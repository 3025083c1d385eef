"""Views of subscriptions to notifications, of a person or a team, and of the delivery log."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import add_refusals, show_refusals
from portal.forms.suggestions import suggest, visible_skills
from portal.pages.notifications.forms import DeliveryFilterForm, SubscriptionChangeForm, SubscriptionForm
from portal.pages.notifications.presenters import delivery_rows, inbox_tabs, subscription_rows
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.lookup.skills import find_skill, find_team
from registry.models import Team
from worker.delivery import log, subscriptions
from worker.delivery.subscriptions import SubscriptionOptions
from worker.models import NotificationSubscription

PAGE = 50
MUTE_HOURS = (1, 24, 168)


@signed_in_form
def settings(request: ActorRequest) -> HttpResponse:
    """Shows the subscriptions of the user, and the form for a new one."""
    return _page(request, None, "notifications/settings.html", {"tabs": inbox_tabs("settings")})


@signed_in_form
def team_settings(request: ActorRequest, slug: str) -> HttpResponse:
    """Shows the subscriptions of the team to its maintainers."""
    team = find_team(slug, request.actor)
    require(request.actor, Action.SETTINGS, team=team, even_archived=True)
    return _page(request, team, "teams/notifications.html", {"team": team})


@signed_in_form
def edit(request: ActorRequest, uid: str) -> HttpResponse:
    """The form that changes a subscription of the user, or of a team for its maintainers."""
    row = subscriptions.find(uid, request.actor)
    form = SubscriptionChangeForm(row, request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            subscriptions.change(row, form.options(row), request.actor)
            messages.success(request, _("Saved."))
            return _back(row)
    context = {"row": row, "form": form, "back": _list_url(row)}
    return render(request, "notifications/edit.html", context, status=422 if form.errors else 200)


@signed_in_action
def mute(request: ActorRequest, uid: str) -> HttpResponse:
    """Mutes the subscription for the chosen number of hours; 0 unmutes it."""
    row = subscriptions.find(uid, request.actor)
    hours = next((hours for hours in MUTE_HOURS if request.POST.get("hours") == str(hours)), 0)
    with show_refusals(request):
        until = timezone.now() + timedelta(hours=hours) if hours else None
        subscriptions.mute(row, until, request.actor)
        messages.success(request, _("Saved."))
    return _back(row)


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    row = subscriptions.find(uid, request.actor)
    with show_refusals(request):
        subscriptions.delete(row, request.actor)
        messages.success(request, _("The subscription was deleted."))
    return _back(row)


@signed_in_action
def test(request: ActorRequest, uid: str) -> HttpResponse:
    """Queues a test message, and shows the delivery log."""
    row = subscriptions.find(uid, request.actor)
    with show_refusals(request):
        log.send_test(row, request.actor)
        messages.success(request, _("The test message is queued. Its result will appear here."))
        return redirect("deliveries")
    return _back(row)


@signed_in_page
def deliveries(request: ActorRequest) -> HttpResponse:
    """Lists deliveries to the user and to teams that the user maintains, newest first."""
    form = DeliveryFilterForm(request.GET)
    rows = log.deliveries(request.actor, **form.lookups).order_by("-pk")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": delivery_rows(page),
        "page": page,
        "form": form,
        "filtered": bool(form.lookups),
        "tabs": inbox_tabs("deliveries"),
    }
    return render(request, "notifications/deliveries.html", context)


@signed_in_action
def retry(request: ActorRequest, uid: str) -> HttpResponse:
    row = log.find(uid, request.actor)
    with show_refusals(request):
        log.retry(row, request.actor)
        messages.success(request, _("The delivery is being retried."))
    return redirect("deliveries")


@signed_in_action
def replay(request: ActorRequest, uid: str) -> HttpResponse:
    row = log.find(uid, request.actor)
    with show_refusals(request):
        log.replay(row, request.actor)
        messages.success(request, _("The notification is being sent again."))
    return redirect("deliveries")


def _page(request: ActorRequest, team: Team | None, template: str, context: dict[str, Any]) -> HttpResponse:
    form = SubscriptionForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            values = dict(form.cleaned_data)
            name = values.pop("skill")
            skill = find_skill(name, request.actor) if name else None
            row = subscriptions.create(SubscriptionOptions(**values, skill=skill), request.actor, team)
            messages.success(request, _("The subscription was added."))
            return _back(row)
    suggest(form, "skill", visible_skills(request.actor))
    rows = subscriptions.subscriptions(request.actor, team)
    if team is None:
        rows = rows.filter(user=request.actor.user)
    context |= {"rows": subscription_rows(rows), "form": form, "mute_hours": MUTE_HOURS}
    return render(request, template, context, status=422 if form.errors else 200)


def _back(row: NotificationSubscription) -> HttpResponse:
    return redirect(_list_url(row))


def _list_url(row: NotificationSubscription) -> str:
    """The page that lists the subscription."""
    if row.team:
        return reverse("team-notifications", args=(row.team.slug,))
    return reverse("notification-settings")
