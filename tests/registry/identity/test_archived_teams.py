"""Archived teams: reading stays, everything else is refused with one code. And leaving, with undo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import audit, teams
from registry.identity.actors import Actor
from registry.identity.permissions import READING, Action, may, require
from registry.models import AuditEntry, FormerMembership, Membership, Role, Skill, Visibility
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def role_of(user, team):
    return Membership.objects.filter(user=user, team=team).values_list("role", flat=True).first()


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.mark.parametrize("action", Action)
def test_archived_team_permits_exactly_what_reads(team, alice, root, action):
    skill = Skill.objects.create(team=team, slug="report", visibility=Visibility.SITE)
    before = {actor: may(actor, action, skill=skill) for actor in (Actor(user=alice), root)}
    teams.archive(team, Actor(user=alice))
    skill.refresh_from_db()
    for actor, allowed in before.items():
        assert may(actor, action, skill=skill) is (allowed and action in READING)
        if allowed and action not in READING:
            assert code(require, actor, action, skill=skill) == "TEAM_ARCHIVED"
            assert code(require, actor, action, team=team) == "TEAM_ARCHIVED"


def test_only_owners_and_administrators_archive_and_unarchive(team, owner, bob, root, stranger):
    for actor, refusal in ((Actor(user=bob), "FORBIDDEN"), (stranger, "NOT_FOUND")):
        assert code(teams.archive, team, actor) == refusal
        assert code(teams.unarchive, team, actor) == refusal
    assert teams.archive(team, owner).archived_at
    assert code(teams.unarchive, team, Actor(user=bob)) == "FORBIDDEN"
    assert teams.unarchive(team, root).archived_at is None
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert [*actions] == ["team.archive", "team.unarchive"]


def test_members_of_an_archived_team_can_only_leave(team, owner, bob, charlie):
    teams.archive(team, owner)
    changes = [
        (teams.add_member, team, charlie, "viewer", owner),
        (teams.change_role, team, bob, "viewer", owner),
        (teams.remove_member, team, bob, owner),
        (teams.transfer_ownership, team, bob, owner),
        (teams.rename_team, team, "New", owner),
    ]
    assert {code(*change) for change in changes} == {"TEAM_ARCHIVED"}
    teams.remove_member(team, bob, Actor(user=bob))
    assert role_of(bob, team) is None
    assert code(teams.rejoin, "docs", Actor(user=bob)) == "TEAM_ARCHIVED"
    assert audit.entries(owner, audit.AuditFilter(), team=team).count() == 2


def test_runs_for_an_archived_team_use_another_team(team, owner, alice):
    other = teams.create_team("other", "", owner)
    skill = Skill.objects.create(team=other, slug="report")
    teams.archive(team, owner)
    Membership.objects.filter(team=other).delete()
    assert teams.calling_team(Actor(user=alice), skill) is None


def test_ownership_moves_in_one_step(team, alice, bob, owner):
    assert code(teams.transfer_ownership, team, bob, Actor(user=bob)) == "FORBIDDEN"
    mine = teams.transfer_ownership(team, bob, owner)
    assert (mine.role, role_of(bob, team)) == (Role.MAINTAINER, Role.OWNER)


def test_ownership_goes_only_to_another_active_member(team, alice, bob, charlie, owner, root):
    assert code(teams.transfer_ownership, team, charlie, owner) == "NOT_FOUND"
    assert code(teams.transfer_ownership, team, alice, owner) == "NOT_FOUND"
    assert code(teams.transfer_ownership, team, bob, root) == "FORBIDDEN"
    assert code(teams.transfer_ownership, team, bob, owner, role="boss") == "ROLE_UNKNOWN"
    bob.is_active = False
    bob.save()
    assert code(teams.transfer_ownership, team, bob, owner) == "NOT_FOUND"
    assert (role_of(alice, team), role_of(bob, team)) == (Role.OWNER, Role.MEMBER)


def test_inactive_owner_does_not_count_as_another_owner(team, alice, bob, owner):
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    bob.is_active = False
    bob.save()
    assert code(teams.remove_member, team, alice, owner) == "LAST_OWNER"
    assert code(teams.change_role, team, alice, "member", owner) == "LAST_OWNER"


def test_person_who_left_gets_the_same_role_back(team, bob):
    me = Actor(user=bob)
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    teams.remove_member(team, bob, me)
    assert teams.rejoin("docs", Actor(user=bob)).role == Role.MAINTAINER
    assert code(teams.rejoin, "docs", me) == "NOT_FOUND"
    assert [*AuditEntry.objects.order_by("pk").values_list("action", flat=True)] == [
        "member.leave",
        "member.rejoin",
    ]


def test_undo_of_leaving_ends_with_time_and_with_any_change_by_an_owner(team, bob, charlie, owner):
    me = Actor(user=bob)
    teams.remove_member(team, bob, me)
    teams.add_member(team, bob, "viewer", owner)
    assert code(teams.rejoin, "docs", me) == "NOT_FOUND"
    teams.remove_member(team, bob, owner)
    assert code(teams.rejoin, "docs", me) == "NOT_FOUND"
    teams.add_member(team, bob, "member", owner)
    teams.remove_member(team, bob, me)
    FormerMembership.objects.update(left_at=timezone.now() - timedelta(minutes=10))
    assert code(teams.rejoin, "docs", me) == "UNDO_EXPIRED"
    assert code(teams.rejoin, "docs", Actor(user=charlie)) == "NOT_FOUND"
    assert role_of(bob, team) is None
