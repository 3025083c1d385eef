"""The list of users, with forms to invite a person and to create an account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import require_administrator, signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.users.forms import InviteForm, UserFilterForm, UserForm
from registry.accounts import invitations, lock_outs, mail, users
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest

SHOWN = 50


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """Lists users and open invitations.

    A POST invites a person or creates an account; only its response contains the link or password.
    """
    require_administrator(request.actor)
    sent = request.POST if request.method == "POST" else None
    kind = sent.get("form") if sent else None
    invite = InviteForm(sent if kind == "invite" else None, prefix="invite")
    create = UserForm(sent if kind == "create" else None, prefix="create")
    done: dict[str, Any] = {}
    if invite.is_valid():
        done = _invite(invite, request.actor)
    elif create.is_valid():
        done = _create(create, request.actor)
    failed = sent is not None and not done
    context = {
        **_list(request),
        "invitations": invitations.open_invitations(request.actor).order_by("-pk")[:SHOWN],
        "lock_outs": lock_outs.list_lock_outs(request.actor).order_by("-pk")[:SHOWN],
        "invite": invite if failed else InviteForm(prefix="invite"),
        "create": create if failed else UserForm(prefix="create"),
        "mail": mail.is_configured(),
        **done,
    }
    return render(request, "users/list.html", context, status=422 if failed else 200)


@signed_in_action
def revoke_invitation(request: ActorRequest, uid: str) -> HttpResponse:
    require_administrator(request.actor)
    with show_refusals(request):
        invitations.revoke(uid, request.actor)
        messages.success(request, _("The invitation was revoked."))
    return redirect("users")


@signed_in_action
def end_lock_out(request: ActorRequest, uid: str) -> HttpResponse:
    require_administrator(request.actor)
    with show_refusals(request):
        lock_outs.end(uid, request.actor)
        messages.success(request, _("The user can sign in again."))
    return redirect("users")


def _list(request: ActorRequest) -> dict[str, Any]:
    form = UserFilterForm(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = users.list_users(request.actor)
    if chosen.get("q"):
        rows = users.containing(rows, chosen["q"])
    if chosen.get("state"):
        rows = rows.filter(is_active=chosen["state"] == "active")
    counted = rows.annotate(teams=Count("memberships")).order_by("username")
    return {"filter": form, "page": Paginator(counted, SHOWN).get_page(request.GET.get("page"))}


def _invite(form: forms.Form, actor: Actor) -> dict[str, Any]:
    """Invites a person and returns the template context of the invitation; {} if refused."""
    given = form.cleaned_data
    with add_refusals(form):
        new = invitations.invite(actor, **given)
        mailed = mail.send_invitation(new.invitation.email, new.url)
        return {"invited": new.invitation, "link": new.url, "mailed": mailed}
    return {}


def _create(form: forms.Form, actor: Actor) -> dict[str, Any]:
    """Creates a user and returns the template context; {} if refused."""
    given = form.cleaned_data
    with add_refusals(form):
        new = users.create_user(
            given["username"], actor, email=given["email"], is_administrator=given["is_administrator"]
        )
        return {"created": new.user, "password": new.one_time_password}
    return {}
