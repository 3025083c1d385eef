"""Views of access tokens: create, show, rotate, revoke and restore. Each secret is shown only once. Team
owners also use the token page for the tokens of service accounts.
"""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from portal.decorators import signed_in_action, signed_in_form, signed_in_page
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.account.presenters import token_examples
from portal.pages.account.token_forms import TokenForm, TokenRotationForm
from portal.presenters.skill.install_lines import lines_with_token
from registry.identity import tokens
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill, find_version
from registry.models import Scope, Token, User, Version
from registry.packages.problems import Refusal

_SHOWN = 200
_CONNECTED = timedelta(days=1)


@login_required
@never_cache
def page(request: ActorRequest) -> HttpResponse:
    """Shows the user's last 200 tokens and the form for a new one. ``?skill=team/slug&version=1.2.0`` adds
    the commands that install this version.

    The secret of a new token appears only in the response to the POST that creates it.
    """
    user = request.actor.user
    assert user
    form = TokenForm(request.POST or None, owner=user)
    context = create(form, request, user)
    version = _version_to_install(request)
    if context:
        form = TokenForm(owner=user)
        if version:
            context["install_lines"] = lines_with_token(version, context["secret"])
    context["version"] = version
    return render(request, "account/tokens.html", {"form": form, "tokens": token_rows(user), **context})


def _version_to_install(request: ActorRequest) -> Version | None:
    """The version that the query names; None if it names none, or one that the actor can't see."""
    label = request.GET.get("skill", "")[:130]
    if "/" not in label:
        return None
    try:
        skill = find_skill(label, request.actor)
        return find_version(skill, request.GET.get("version") or None, request.actor)
    except Refusal:
        return None


@signed_in_form
def token(request: ActorRequest, uid: str) -> HttpResponse:
    """Shows one token; a POST rotates it and shows the new secret."""
    found = tokens.find_token(uid, request.actor)
    form = TokenRotationForm(request.POST or None)
    context: dict[str, Any] = {}
    if form.is_valid():
        with add_refusals(form):
            hours = form.cleaned_data["overlap_hours"]
            found, secret = tokens.rotate(found, request.actor, overlap_hours=hours)
            context = {"secret": secret, "examples": token_examples(secret)}
            form = TokenRotationForm()
    state = tokens.state_of(found, timezone.now())
    context |= {"token": found, "state": state, "scopes": _scope_labels(found), "form": form}
    context |= {"uid": uid, "is_connected": _is_connected(found)}
    return render(request, "account/token.html", context, status=422 if form.is_bound else 200)


@signed_in_page
def connection(request: ActorRequest, uid: str) -> HttpResponse:
    """The part of a page that shows whether a client has used the token. The page reloads it until then."""
    found = tokens.find_token(uid, request.actor)
    context = {"uid": uid, "is_connected": _is_connected(found)}
    return render(request, "account/connection.html", context)


@signed_in_action
def revoke(request: ActorRequest, uid: str) -> HttpResponse:
    found = tokens.find_token(uid, request.actor)
    tokens.revoke(found, request.actor)
    text = _("The token %(name)s was revoked.") % {"name": found.name}
    messages.success(request, text, extra_tags=reverse("token-restore", args=[uid]))
    return redirect(_list_of(found))


@signed_in_action
def restore(request: ActorRequest, uid: str) -> HttpResponse:
    found = tokens.find_token(uid, request.actor)
    with show_refusals(request):
        tokens.restore(found, request.actor)
        messages.success(request, _("The token %(name)s works again.") % {"name": found.name})
    return redirect(_list_of(found))


def create(form: TokenForm, request: ActorRequest, owner: User) -> dict[str, Any]:
    """Creates a token and returns its template context; {} if the form is unbound, invalid or refused."""
    if form.is_valid():
        with add_refusals(form):
            given = form.cleaned_data
            made, secret = tokens.issue(
                owner,
                name=given["name"],
                scopes=given["scopes"],
                expires_at=form.expiry,
                team=form.chosen_team,
                by=request.actor,
            )
            return {"new_token": made, "secret": secret, "examples": token_examples(secret)}
    return {}


def token_rows(owner: User) -> list[dict[str, Any]]:
    """The owner's last 200 tokens, newest first."""
    now = timezone.now()
    rows = owner.tokens.filter(is_link=False).select_related("team", "owner").order_by("-pk")[:_SHOWN]
    return [{"token": row, "state": tokens.state_of(row, now), "scopes": _scope_labels(row)} for row in rows]


def _is_connected(token: Token) -> bool:
    """Whether a client has used the token in the last day."""
    return token.last_used_at is not None and token.last_used_at > timezone.now() - _CONNECTED


def _list_of(found: Token) -> str:
    """The URL of the list that contains the token."""
    if found.owner.is_service and found.team:
        return reverse("service-account", args=[found.team.slug, found.owner.uid])
    return reverse("tokens")


def _scope_labels(token: Token) -> list[str]:
    return [str(scope.label) for scope in Scope if scope in token.scopes]
