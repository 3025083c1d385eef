"""The user's own sessions: list, end one, end all others."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_page
from portal.pages.account.presenters import client_name
from registry.accounts import sessions
from registry.identity.middleware import ActorRequest


@signed_in_page
def page(request: ActorRequest) -> HttpResponse:
    assert request.actor.user
    found = sessions.list_sessions(request.actor.user, request.session.session_key or "")
    rows = [(each, client_name(each.user_agent)) for each in found]
    return render(request, "account/sessions.html", {"rows": rows})


@signed_in_action
def end(request: ActorRequest, uid: str) -> HttpResponse:
    assert request.actor.user
    sessions.end_session(request.actor.user, uid)
    messages.success(request, _("The session was ended."))
    return redirect("sessions")


@signed_in_action
def end_others(request: ActorRequest) -> HttpResponse:
    assert request.actor.user
    sessions.end_other_sessions(request.actor.user, request.session.session_key or "")
    messages.success(request, _("All other sessions were ended."))
    return redirect("sessions")
