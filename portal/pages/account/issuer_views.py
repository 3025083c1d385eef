"""Sign-in with an OIDC issuer, and the accounts at issuers that a user has linked."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.socialaccount.internal import statekit
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import show_refusals
from portal.sign_in.confirmation import redirect_to_confirmation
from registry.identity.middleware import ActorRequest
from registry.rates.limits import RateLimit, count_request
from registry.single_sign_on import accounts, exchange
from registry.single_sign_on.errors import SIGN_IN_EXPIRED
from registry.single_sign_on.issuers import Issuer, find_issuer, issuers


@never_cache
@require_POST
def start(request: ActorRequest, name: str) -> HttpResponse:
    """Sends the browser to the issuer to sign in."""
    count_request(request, request.actor, RateLimit.SIGN_IN)
    issuer, url = find_issuer(name), request.POST.get("next", "")
    next_url = url if url_has_allowed_host_and_scheme(url, allowed_hosts=None) else ""
    with show_refusals(request):
        return _forward(request, issuer, {"next": next_url})
    return redirect("sign-in")


@never_cache
@require_GET
def callback(request: ActorRequest, name: str) -> HttpResponse:
    """Completes the sign-in or link that this browser started. Works once. Shows errors on another page,
    because this URL contains the issuer's code.
    """
    issuer = find_issuer(name)
    with show_refusals(request):
        return _complete(request, issuer)
    return redirect("identities" if request.actor.user else "sign-in")


@signed_in_form
def identities(request: ActorRequest) -> HttpResponse:
    """Shows the user's linked accounts. A POST links another one, after a recent sign-in or confirmation."""
    user = request.actor.user
    assert user
    if request.method == "POST":
        count_request(request, request.actor, RateLimit.SIGN_IN)
        if confirmation := redirect_to_confirmation(request, back_to=reverse("identities")):
            return confirmation
        with show_refusals(request):
            return _forward(request, find_issuer(request.POST.get("issuer", "")), {"user": user.pk})
    rows = [(linked, accounts.label_of(linked)) for linked in accounts.links_of(user)]
    return render(request, "account/identities.html", {"rows": rows, "issuers": issuers()})


@signed_in_action
def unlink(request: ActorRequest) -> HttpResponse:
    assert request.actor.user
    if confirmation := redirect_to_confirmation(request, back_to=reverse("identities")):
        return confirmation
    with show_refusals(request):
        accounts.unlink(request.actor.user, request.POST.get("identity", ""))
        messages.success(request, _("The account was unlinked."))
    return redirect("identities")


def _forward(request: HttpRequest, issuer: Issuer, purpose: dict[str, Any]) -> HttpResponse:
    """A page that forwards to the issuer. A redirect in response to a form would violate the
    Content-Security-Policy (form-action).
    """
    attempt, state = exchange.SignInSecrets.new(), secrets.token_urlsafe(32)
    url = exchange.authorization_url(issuer, attempt, state)
    statekit.stash_state(
        request, provider_id=issuer.name, state={"attempt": asdict(attempt), **purpose}, state_id=state
    )
    return render(request, "account/forward.html", {"url": url, "issuer": issuer})


def _complete(request: ActorRequest, issuer: Issuer) -> HttpResponse:
    state = request.GET.get("state", "")
    started = statekit.unstash_state(request, provider_id=issuer.name, state_id=state)
    if started is None:
        raise SIGN_IN_EXPIRED.refusal()
    identity = exchange.identify(issuer, exchange.SignInSecrets(**started["attempt"]), request.GET.dict())
    if "user" in started:
        return _link(request, identity, started["user"])
    user = accounts.sign_in(identity)
    if request.user.is_authenticated:
        logout(request)
    record_authentication(request, user, "socialaccount", provider=issuer.url, uid=identity.subject)
    login = Login(user=user, email_verification="none", redirect_url=started["next"] or None)
    response: HttpResponse = perform_login(request, login)
    return response


def _link(request: ActorRequest, identity: exchange.Identity, user_pk: int) -> HttpResponse:
    user = request.actor.user
    if user is None or user.pk != user_pk:  # signed out, or signed in as another user meanwhile
        raise SIGN_IN_EXPIRED.refusal()
    accounts.link(identity, user)
    messages.success(request, _("You can sign in with %(issuer)s now.") % {"issuer": identity.issuer.label})
    return redirect("identities")
