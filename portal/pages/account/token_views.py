"""Personal access tokens: create, show once, revoke."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from portal.decorators import signed_in_action
from portal.forms.errors import add_refusals
from portal.pages.account.token_forms import TokenForm
from registry.core.addresses import absolute_url
from registry.identity import tokens
from registry.identity.middleware import session_actor
from registry.models import Token, User


@login_required
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """The user's tokens and the form for a new one; the secret is only in the response to the POST."""
    user = request.user
    assert isinstance(user, User)
    form, context = TokenForm(request.POST or None, owner=user), {}
    if form.is_valid():
        with add_refusals(form):
            context = _issue(form, request, user)
            form = TokenForm(owner=user)
    return render(request, "account/tokens.html", {"form": form, "tokens": _rows(user), **context})


@signed_in_action
def revoke(request: HttpRequest, uid: str) -> HttpResponse:
    token = get_object_or_404(Token, uid=uid, owner=request.user)
    tokens.revoke(token, session_actor(request))
    messages.success(request, _("The token %(name)s was revoked.") % {"name": token.name})
    return redirect("tokens")


def _issue(form: TokenForm, request: HttpRequest, user: User) -> dict[str, Any]:
    given = form.cleaned_data
    token, secret = tokens.issue(
        user,
        name=given["name"],
        scopes=given["scopes"],
        expires_at=form.expiry,
        team=given["team"],
        by=session_actor(request),
    )
    curl = f'curl -H "Authorization: Bearer {secret}" {absolute_url("/api/v1/me")}'
    return {"new_token": token, "secret": secret, "curl": curl}


def _rows(user: User) -> list[dict[str, Any]]:
    now = timezone.now()
    rows = user.tokens.select_related("team").order_by("-pk")[:200]
    return [{"token": token, "state": _state(token, now)} for token in rows]


def _state(token: Token, now: Any) -> str:
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at <= now else "active"
