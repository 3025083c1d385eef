"""Views of a team's members: list, add, change the role, remove and undo the removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.teams.forms import MemberForm, RoleForm, TeamInvitationForm
from registry.accounts import invitations
from registry.accounts.invitations import NewInvitation
from registry.core.errors import NOT_FOUND
from registry.identity import teams
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.lookup.skills import find_team
from registry.models import Membership, Role, Team, User, UserKind


@signed_in_form
def page(request: ActorRequest, slug: str) -> HttpResponse:
    """Lists the members and open invitations.

    A POST adds a member or creates an invitation. Only the response shows the link of the invitation.
    """
    team = find_team(slug, request.actor)
    sent = request.POST if request.method == "POST" else None
    if sent is not None:  # checked before the look-up, which would reveal user names
        require(request.actor, Action.MEMBERS, team=team)
    else:
        teams.require_member(team, request.actor)
    invites = sent is not None and "invite" in sent
    form, invite = (
        MemberForm(None if invites else sent),
        TeamInvitationForm(sent if invites else None, prefix="invite"),
    )
    new: NewInvitation | None = None
    if form.is_valid() and _add(form, request, team):
        return redirect("team-members", slug)
    if invite.is_valid():
        with add_refusals(invite):
            given = invite.cleaned_data
            new = invitations.invite(request.actor, team=team, role=given["role"], days=given["days"])
            invite = TeamInvitationForm(prefix="invite")
    context = {"form": form, "invite": invite, "new": new, **_context(request.actor, team)}
    failed = form.is_bound or invite.is_bound
    return render(request, "teams/members.html", context, status=400 if failed else 200)


def _add(form: MemberForm, request: ActorRequest, team: Team) -> bool:
    """Adds the member; False if that was refused, with the refusal in the form."""
    given = form.cleaned_data
    with add_refusals(form):
        member = teams.add_member(team, given["user"], given["role"], request.actor)
        messages.success(request, _("%(name)s was added to the team.") % {"name": member.user.username})
        return True
    return False


def _context(actor: Actor, team: Team) -> dict[str, Any]:
    may_manage = may(actor, Action.MEMBERS, team=team)
    members = _rows(team)
    others = [row["membership"].user for row in members if row["membership"].user != actor.user]
    is_owner = actor.roles.get(team.pk) == Role.OWNER
    return {
        "team": team,
        "members": members,
        "may_manage": may_manage,
        "is_only_owner": is_owner and _count_owners(members) == 1,
        "heirs": [user for user in others if user.is_active] if may_manage and is_owner else [],
        "invitations": invitations.open_invitations(actor, team=team).order_by("-pk") if may_manage else (),
    }


@signed_in_action
def role(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    team = find_team(slug, request.actor)
    user = _membership(team, uid, request.actor).user
    with show_refusals(request):
        teams.change_role(team, user, request.POST.get("role", ""), request.actor)
        messages.success(request, _("The role of %(name)s was changed.") % {"name": user.username})
    return redirect("team-members", slug)


@signed_in_action
def remove(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    """Removes a member. Users who remove themselves leave the team."""
    team = find_team(slug, request.actor)
    member = _membership(team, uid, request.actor)
    with show_refusals(request):
        teams.remove_member(team, member.user, request.actor)
        if member.user == request.actor.user:
            undo = reverse("team-rejoin", args=[slug])
            messages.success(request, _("You left %(team)s.") % {"team": team.slug}, extra_tags=undo)
            return redirect("teams")
        undo = reverse("member-restore", args=[slug, uid]) + "?" + urlencode({"role": member.role})
        text = _("%(name)s is no longer on the team.") % {"name": member.user.username}
        messages.success(request, text, extra_tags=undo)
    return redirect("team-members", slug)


@signed_in_action
def restore(request: ActorRequest, slug: str, uid: str) -> HttpResponse:
    """Adds a removed member again, with the role from the query."""
    team = find_team(slug, request.actor)
    require(request.actor, Action.MEMBERS, team=team)
    user = User.objects.filter(uid=uid, is_active=True, kind=UserKind.PERSON).first()
    if user is None:
        raise NOT_FOUND.refusal(what="member", name=uid[:30])
    with show_refusals(request):
        teams.add_member(team, user, request.GET.get("role", ""), request.actor)
        messages.success(request, _("%(name)s was added to the team.") % {"name": user.username})
    return redirect("team-members", slug)


def _rows(team: Team) -> list[dict[str, Any]]:
    """Rows of the members, owners first, each with the form that changes the role."""
    order = list(Role.values)[::-1]
    rows = sorted(
        team.memberships.filter(user__kind=UserKind.PERSON).select_related("user"),
        key=lambda row: (order.index(row.role), row.user.username),
    )
    return [
        {
            "membership": row,
            "form": RoleForm(initial={"role": row.role}, auto_id=f"role-{row.user.uid}-%s"),
            "confirm_id": f"remove-{row.user.uid}",
        }
        for row in rows
    ]


def _count_owners(rows: Iterable[Mapping[str, Any]]) -> int:
    """The number of active owners in the rows."""
    found = [row["membership"] for row in rows if row["membership"].role == Role.OWNER]
    return sum(row.user.is_active for row in found)


def _membership(team: Team, uid: str, actor: Actor) -> Membership:
    membership = teams.members_of(team, actor).filter(user__uid=uid).first()
    if membership is None:
        raise NOT_FOUND.refusal(what="member", name=uid[:30])
    return membership
