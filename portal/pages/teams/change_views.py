"""Views that change a team: leave and rejoin it, revoke an invitation, transfer ownership, archive it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import show_refusals
from registry.accounts import invitations
from registry.core.errors import NOT_FOUND
from registry.core.sql import count_rows, evaluate
from registry.identity import teams
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_team
from registry.models import Membership, Skill, Source, Team, Visibility, WebhookEndpoint


@signed_in_form
def departure(request: ActorRequest, slug: str) -> HttpResponse:
    """Lists the access that the user loses; a POST leaves the team."""
    team = find_team(slug, request.actor)
    mine = _own_membership(team, request.actor)
    if request.method == "POST":
        with show_refusals(request):
            teams.remove_member(team, mine.user, request.actor)
            undo = reverse("team-rejoin", args=[slug])
            messages.success(request, _("You left %(team)s.") % {"team": slug}, extra_tags=undo)
            return redirect("teams")
        return redirect("team-leave", slug)
    user = mine.user
    counted = {
        "private_skills": Skill.objects.visible_to(request.actor).filter(
            team=team, visibility=Visibility.PRIVATE
        ),
        "own_tokens": user.tokens.filter(team=team, revoked_at=None),
        "own_sources": Source.objects.filter(team=team, created_by=user, interval_s__gt=0),
        "own_webhooks": WebhookEndpoint.objects.filter(team=team, created_by=user),
    }
    counts = {name: count_rows(rows) for name, rows in counted.items()}
    evaluate(*counts.values())
    context = {"team": team, "membership": mine, "only_owner": teams.is_only_owner(mine)}
    context |= {name: sum(number) for name, number in counts.items()}
    return render(request, "teams/leave.html", context)


@signed_in_action
def rejoin(request: ActorRequest, slug: str) -> HttpResponse:
    """Restores the membership of a user who left the team."""
    mine = teams.rejoin(slug, request.actor)
    messages.success(request, _("You rejoined %(team)s.") % {"team": mine.team.name})
    return redirect("team", slug)


@signed_in_action
def revoke_invitation(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    with show_refusals(request):
        invitations.revoke(uid, request.actor, team=team)
        messages.success(request, _("The invitation was revoked."))
    return redirect("team-members", slug)


@signed_in_action
def transfer(request: ActorRequest, slug: str) -> HttpResponse:
    """Makes the chosen member an owner and the user a maintainer."""
    team = find_team(slug, request.actor)
    heir = teams.members_of(team, request.actor).filter(user__uid=request.POST.get("to", "")).first()
    with show_refusals(request):
        if heir is None:
            raise NOT_FOUND.refusal(what="member", name=request.POST.get("to", "")[:30])
        teams.transfer_ownership(team, heir.user, request.actor)
        text = _("%(name)s owns the team now. Your role is maintainer.")
        messages.success(request, text % {"name": heir.user.username})
    return redirect("team-members", slug)


@signed_in_action
def archive(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    with show_refusals(request):
        teams.archive(team, request.actor)
        undo = reverse("team-unarchive", args=[slug])
        messages.success(request, _("The team was archived."), extra_tags=undo)
    return redirect("team", slug)


@signed_in_action
def unarchive(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    with show_refusals(request):
        teams.unarchive(team, request.actor)
        messages.success(request, _("The team is active again."))
    return redirect("team", slug)


def _own_membership(team: Team, actor: Actor) -> Membership:
    mine = Membership.objects.select_related("user", "team").filter(team=team, user=actor.user).first()
    if mine is None:
        raise NOT_FOUND.refusal(what="team", name=team.slug)
    return mine
