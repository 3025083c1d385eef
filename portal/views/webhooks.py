"""Webhook endpoints: made, given another secret, deleted; a secret is in the answer to the POST alone."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.events import RotationForm, WebhookForm
from portal.forms.refusals import add_refusal, say
from portal.views.events import teams_for
from registry.actors import Actor
from registry.addresses import absolute
from registry.events import webhooks
from registry.middleware import ActorRequest
from registry.models import WebhookEndpoint
from registry.packages.problems import Refused
from registry.permissions import Action, may


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest) -> HttpResponse:
    teams = teams_for(request.actor, Action.EVENTS)
    form = WebhookForm(request.POST or None, teams=teams)
    if request.method == "POST" and form.is_valid():
        try:
            endpoint, secret = _made(form, request.actor)
            return _page(request, WebhookForm(teams=teams), made=endpoint, secret=secret)
        except Refused as refused:
            add_refusal(form, refused)
    return _page(request, form)


@never_cache
@login_required
@require_POST
def rotate(request: ActorRequest, uid: str) -> HttpResponse:
    endpoint, form = webhooks.find(uid, request.actor), RotationForm(request.POST)
    if form.is_valid():
        try:
            secret = webhooks.rotate(endpoint, request.actor, overlap_h=form.cleaned_data["overlap_hours"])
            new = WebhookForm(teams=teams_for(request.actor, Action.EVENTS))
            return _page(request, new, made=endpoint, secret=secret)
        except Refused as refused:
            say(request, refused)
    return redirect("webhooks")


@login_required
@require_POST
def remove(request: ActorRequest, uid: str) -> HttpResponse:
    endpoint = webhooks.find(uid, request.actor)
    try:
        webhooks.remove(endpoint, request.actor)
        messages.success(request, _("The endpoint %(name)s is gone.") % {"name": endpoint.name})
    except Refused as refused:
        say(request, refused)
    return redirect("webhooks")


def _made(form: WebhookForm, actor: Actor) -> tuple[WebhookEndpoint, str]:
    given = form.cleaned_data
    return webhooks.create(given["team"], name=given["name"], prefix=given["before_type"], actor=actor)


def _page(
    request: ActorRequest, form: WebhookForm, *, made: WebhookEndpoint | None = None, secret: str = ""
) -> HttpResponse:
    rows = [_row(endpoint, request) for endpoint in webhooks.endpoints(request.actor)]
    can = teams_for(request.actor, Action.EVENTS).exists()
    context = {"rows": rows, "form": form, "can": can, "made": made, "secret": secret}
    if made:
        context["made_address"] = _address(made)
    return render(request, "events/webhooks.html", context, status=422 if form.errors else 200)


def _row(endpoint: WebhookEndpoint, request: ActorRequest) -> dict[str, Any]:
    until = endpoint.previous_until
    return {
        "endpoint": endpoint,
        "address": _address(endpoint),
        "until": until if until and until > timezone.now() else None,
        "last": endpoint.events.order_by("-pk").first(),
        "form": RotationForm(auto_id=f"{endpoint.uid}-%s"),
        "may_change": may(request.actor, Action.EVENTS, team=endpoint.team),
    }


def _address(endpoint: WebhookEndpoint) -> str:
    return absolute(f"/hooks/{endpoint.uid}")
