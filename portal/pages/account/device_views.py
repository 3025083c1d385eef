"""Confirms the login of a client, such as a command-line tool, by the code that it shows."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_form
from portal.forms.errors import add_refusals
from portal.pages.account.token_forms import DeviceCodeForm, DeviceGrantForm
from registry.device_logins import logins
from registry.identity.middleware import ActorRequest
from registry.models import DeviceLogin
from registry.rates.limits import RateLimit, count_request


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """The form for the code. A POST with a code shows the client, and with a decision ends the login."""
    form = DeviceCodeForm(request.POST or None)
    if form.is_valid():
        count_request(request, request.actor, RateLimit.SIGN_IN)  # limits how many codes one can try
        with add_refusals(form):
            login = logins.find_pending(form.cleaned_data["code"])
            return _decide(request, login)
    status = 422 if form.is_bound else 200
    return render(request, "account/device.html", {"form": form}, status=status)


def _decide(request: ActorRequest, login: DeviceLogin) -> HttpResponse:
    """Approves or denies the login, or shows it. Raises the errors of ``approve`` and ``deny``."""
    assert request.actor.user
    decision = request.POST.get("decision")
    if decision == "deny":
        logins.deny(login, request.actor)
        messages.success(request, _("The login was denied. The client gets no access."))
        return redirect("device-login")
    bound = request.POST if decision == "approve" else None
    form = DeviceGrantForm(bound, owner=request.actor.user, code=logins.shown_code(login.code))
    if form.is_valid():
        logins.approve(
            login,
            request.actor,
            scopes=form.cleaned_data["scopes"],
            expires_at=form.expiry,
            team=form.chosen_team,
        )
        messages.success(request, _("%(name)s is signed in as you.") % {"name": login.label})
        return redirect("tokens")
    context = {"form": form, "login": login, "code": logins.shown_code(login.code)}
    return render(request, "account/device_grant.html", context, status=422 if form.is_bound else 200)
