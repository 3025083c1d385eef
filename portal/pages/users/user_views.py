"""The page of one user, with the changes that administrators make."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from portal.decorators import require_administrator, signed_in_action, signed_in_page
from portal.forms.errors import show_refusals
from registry.accounts import mail, second_factors, sessions, users
from registry.core.errors import NOT_FOUND
from registry.identity.middleware import ActorRequest
from registry.models import User


@signed_in_page
def page(request: ActorRequest, uid: str) -> HttpResponse:
    return _render(request, _find(request, uid))


@signed_in_action
def deactivate(request: ActorRequest, uid: str) -> HttpResponse:
    user = _find(request, uid)
    with show_refusals(request):
        users.deactivate(user, request.actor)
        text = _("%(name)s can no longer sign in, and all of the user's tokens have stopped working.")
        messages.success(request, text % {"name": user.username})
    return redirect("user", uid)


@signed_in_action
def reactivate(request: ActorRequest, uid: str) -> HttpResponse:
    user = _find(request, uid)
    with show_refusals(request):
        users.reactivate(user, request.actor)
        messages.success(request, _("%(name)s can sign in again.") % {"name": user.username})
    return redirect("user", uid)


@signed_in_action
def administrator(request: ActorRequest, uid: str) -> HttpResponse:
    """Makes the user an administrator or an ordinary user, as submitted."""
    user = _find(request, uid)
    with show_refusals(request):
        changed = users.set_administrator(user, request.POST.get("administrator") == "1", request.actor)
        text = (
            _("%(name)s is an administrator now.")
            if changed.is_superuser
            else _("%(name)s is no longer an administrator.")
        )
        messages.success(request, text % {"name": user.username})
    return redirect("user", uid)


@signed_in_action
def end_sessions(request: ActorRequest, uid: str) -> HttpResponse:
    user = _find(request, uid)
    sessions.end_sessions_as(user, request.actor)
    messages.success(request, _("All sessions of %(name)s were ended.") % {"name": user.username})
    return redirect("user", uid)


@signed_in_action
def reset_second_factors(request: ActorRequest, uid: str) -> HttpResponse:
    user = _find(request, uid)
    second_factors.reset(user, request.actor)
    messages.success(request, _("The second factors of %(name)s were removed.") % {"name": user.username})
    return redirect("user", uid)


@never_cache
@signed_in_action
def reset_password(request: ActorRequest, uid: str) -> HttpResponse:
    """Creates a link with which the user sets a new password. Only this response contains the link."""
    user = _find(request, uid)
    with show_refusals(request):
        link = users.reset_password(user, request.actor)
        mailed = mail.send_reset_link(user, link)
        return _render(request, user, link=link, mailed=mailed, mail=mail.is_configured())
    return redirect("user", uid)


def _find(request: ActorRequest, uid: str) -> User:
    require_administrator(request.actor)
    user = users.list_users(request.actor).filter(uid=uid).first()
    if user is None:
        raise NOT_FOUND.refusal(what="user", name=uid[:30])
    return user


def _render(request: ActorRequest, user: User, **more: Any) -> HttpResponse:
    context = {
        "person": user,
        "memberships": user.memberships.select_related("team").order_by("team__slug"),
        "sessions": len(sessions.list_sessions(user)),
        "factors": second_factors.factors_of(user),
        "tokens": user.tokens.filter(revoked_at=None).count(),
        "dependents": None if user.is_active else users.dependents_of(user),
    }
    return render(request, "users/user.html", context | more)
