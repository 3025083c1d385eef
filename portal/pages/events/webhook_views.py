"""Views that create and remove webhook endpoints and rotate their secrets.

A secret appears only in the response to the POST that creates it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Max
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.events.forms import RotationForm, WebhookForm
from portal.pages.events.views import teams_for
from registry.core.addresses import absolute_url
from registry.events import webhooks
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.models import Event, WebhookEndpoint


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    teams = teams_for(request.actor, Action.EVENTS)
    form = WebhookForm(request.POST or None, teams=teams)
    if form.is_valid():
        with add_refusals(form):
            endpoint, secret = webhooks.create(**form.cleaned_data, actor=request.actor)
            return _page(request, WebhookForm(teams=teams), new_endpoint=endpoint, secret=secret)
    return _page(request, form)


@never_cache
@signed_in_action
def rotate(request: ActorRequest, uid: str) -> HttpResponse:
    endpoint, form = webhooks.find_endpoint(uid, request.actor), RotationForm(request.POST)
    if form.is_valid():
        with show_refusals(request):
            secret = webhooks.rotate(endpoint, request.actor, overlap_h=form.cleaned_data["overlap_hours"])
            new = WebhookForm(teams=teams_for(request.actor, Action.EVENTS))
            return _page(request, new, new_endpoint=endpoint, secret=secret)
    return redirect("webhooks")


@signed_in_action
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    endpoint = webhooks.find_endpoint(uid, request.actor)
    with show_refusals(request):
        webhooks.remove(endpoint, request.actor)
        messages.success(request, _("The webhook %(name)s was deleted.") % {"name": endpoint.name})
    return redirect("webhooks")


def _page(
    request: ActorRequest, form: WebhookForm, *, new_endpoint: WebhookEndpoint | None = None, secret: str = ""
) -> HttpResponse:
    endpoints = list(webhooks.endpoints(request.actor))
    newest = Event.objects.filter(webhook__in=endpoints).order_by().values("webhook").annotate(last=Max("pk"))
    last = {event.webhook_id: event for event in Event.objects.filter(pk__in=newest.values("last"))}
    rows = [_row(endpoint, request, last.get(endpoint.pk)) for endpoint in endpoints]
    can = bool(form.team_field.choices)
    context = {"rows": rows, "form": form, "can": can, "new_endpoint": new_endpoint, "secret": secret}
    if new_endpoint:
        context["new_address"] = _address(new_endpoint)
    return render(request, "events/webhooks.html", context, status=422 if form.errors else 200)


def _row(endpoint: WebhookEndpoint, request: ActorRequest, last: Event | None) -> dict[str, Any]:
    until = endpoint.previous_until
    return {
        "endpoint": endpoint,
        "address": _address(endpoint),
        "until": until if until and until > timezone.now() else None,
        "last": last,
        "form": RotationForm(auto_id=f"{endpoint.uid}-%s"),
        "may_change": may(request.actor, Action.EVENTS, team=endpoint.team),
    }


def _address(endpoint: WebhookEndpoint) -> str:
    return absolute_url(f"/hooks/{endpoint.uid}")
