"""Access tokens of one's own: made, shown once, revoked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from portal.forms.refusals import add_refusal
from portal.forms.tokens import TokenForm
from registry import tokens
from registry.addresses import absolute
from registry.middleware import session_actor
from registry.models import Token, User
from registry.packages.problems import Refused


@login_required
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """The tokens there are, and the form of a new one; its secret is in the answer to the POST alone."""
    user = request.user
    assert isinstance(user, User)
    form, context = TokenForm(request.POST or None, owner=user), {}
    if request.method == "POST" and form.is_valid():
        try:
            context = _issued(form, request, user)
            form = TokenForm(owner=user)
        except Refused as refused:
            add_refusal(form, refused)
    return render(request, "account/tokens.html", {"form": form, "tokens": _rows(user), **context})


@login_required
@require_POST
def revoke(request: HttpRequest, uid: str) -> HttpResponse:
    token = get_object_or_404(Token, uid=uid, owner=request.user)
    tokens.revoke(token, session_actor(request))
    messages.success(request, _("The token %(name)s no longer works.") % {"name": token.name})
    return redirect("tokens")


def _issued(form: TokenForm, request: HttpRequest, user: User) -> dict[str, Any]:
    asked = form.cleaned_data
    token, secret = tokens.issue(
        user,
        name=asked["name"],
        scopes=asked["scopes"],
        expires_at=form.ends,
        team=asked["team"],
        by=session_actor(request),
    )
    curl = f'curl -H "Authorization: Bearer {secret}" {absolute("/api/v1/me")}'
    return {"made": token, "secret": secret, "curl": curl}


def _rows(user: User) -> list[dict[str, Any]]:
    now = timezone.now()
    rows = user.tokens.select_related("team").order_by("-pk")[:200]
    return [{"token": token, "state": _state(token, now)} for token in rows]


def _state(token: Token, now: Any) -> str:
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at <= now else "active"
