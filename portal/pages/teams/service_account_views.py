"""Views of a team's service accounts: the list, and one account with its tokens."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.account.token_forms import TokenForm
from portal.pages.account.token_views import create as create_token
from portal.pages.account.token_views import token_rows
from portal.pages.teams.forms import ServiceAccountForm, ServiceRoleForm
from registry.accounts import service_accounts
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_team
from registry.models import Membership


@signed_in_form
def page(request: ActorRequest, slug: str) -> HttpResponse:
    """Lists the service accounts; a POST creates one and opens its page."""
    team = find_team(slug, request.actor)
    rows = service_accounts.list_service_accounts(team, request.actor).order_by("user__username")
    form = ServiceAccountForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            given = form.cleaned_data
            made = service_accounts.create(team, given["name"], given["role"], request.actor)
            return redirect("service-account", slug, made.user.uid)
    context = {"team": team, "accounts": rows, "form": form}
    return render(request, "teams/service_accounts.html", context, status=422 if form.is_bound else 200)


@signed_in_form
def account(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    """Shows one account with its tokens; a POST creates a token and shows its secret."""
    row = _find(slug, uid, request.actor)
    form = TokenForm(request.POST or None, owner=row.user, only=row.team)
    context = create_token(form, request, row.user)
    if context:
        form = TokenForm(owner=row.user, only=row.team)
    context |= {
        "team": row.team,
        "account": row,
        "form": form,
        "role_form": ServiceRoleForm(initial={"role": row.role}, prefix="account"),
        "tokens": token_rows(row.user),
    }
    return render(request, "teams/service_account.html", context, status=422 if form.is_bound else 200)


@signed_in_action
def role(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    row = _find(slug, uid, request.actor)
    with show_refusals(request):
        service_accounts.change_role(row, request.POST.get("account-role", ""), request.actor)
        messages.success(request, _("The role of %(name)s was changed.") % {"name": row.user.username})
    return redirect("service-account", slug, uid)


@signed_in_action
def deactivate(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    row = _find(slug, uid, request.actor)
    with show_refusals(request):
        service_accounts.deactivate(row, request.actor)
        text = _("%(name)s was deactivated. Its tokens no longer work.")
        messages.success(request, text % {"name": row.user.username})
    return redirect("service-account", slug, uid)


@signed_in_action
def reactivate(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    row = _find(slug, uid, request.actor)
    with show_refusals(request):
        service_accounts.reactivate(row, request.actor)
        messages.success(request, _("The tokens of %(name)s work again.") % {"name": row.user.username})
    return redirect("service-account", slug, uid)


def _find(slug: str, uid: str, actor: Actor) -> Membership:
    rows = service_accounts.list_service_accounts(find_team(slug, actor), actor)
    row = rows.filter(user__uid=uid).first()
    if row is None:
        raise NOT_FOUND.refusal(what="service account", name=uid[:30])
    return row
