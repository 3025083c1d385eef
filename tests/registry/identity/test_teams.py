from __future__ import annotations

import pytest

from registry.identity import teams
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import AuditEntry, Membership, Role, Skill, Team, Token
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def refused_code(call, *args, **kwargs):
    with pytest.raises(Refusal) as assert_error:
        call(*args, **kwargs)
    return assert_error.value.code


def role_of(user, team):
    return Membership.objects.get(user=user, team=team).role


def test_whoever_makes_a_team_owns_it(charlie):
    actor = Actor(user=charlie)
    assert len(actor.roles) == 1
    made = teams.create_team("data-lab", "数据实验室", actor)
    assert role_of(charlie, made) == Role.OWNER
    assert actor.roles[made.pk] == Role.OWNER


def test_a_stranger_and_a_token_make_no_team(alice):
    assert refused_code(teams.create_team, "lab", "Lab", ANONYMOUS) == "SIGN_IN_REQUIRED"
    by_token = Actor(user=alice, token=Token(owner=alice), scopes=frozenset({"publish"}))
    assert refused_code(teams.create_team, "lab", "Lab", by_token) == "TOKEN_SCOPE_MISSING"


def test_a_taken_name_is_refused(alice, team):
    Team.objects.filter(pk=team.pk).update(slug="handbook")
    assert refused_code(teams.create_team, "handbook", "Docs", Actor(user=alice)) == "TEAM_EXISTS"
    assert Team.objects.count() == 1


@pytest.mark.parametrize(
    "slug", ["", "A", "a_b", "-a", "a--b", "a/b", "团队", "a" * 65, "new", "listing", "a\n"]
)
def test_a_slug_is_fit_for_addresses(alice, slug):
    assert refused_code(teams.create_team, slug, "Lab", Actor(user=alice)) == "SLUG_INVALID"


def test_an_owner_adds_members_with_a_role(alice, charlie, team):
    teams.add_member(team, charlie, "viewer", Actor(user=alice))
    assert role_of(charlie, team) == Role.VIEWER
    assert refused_code(teams.add_member, team, charlie, "owner", Actor(user=alice)) == "MEMBER_EXISTS"


def test_no_other_role_touches_the_members(bob, charlie, team):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    by = Actor(user=bob)
    assert refused_code(teams.add_member, team, charlie, "viewer", by) == "FORBIDDEN"
    assert refused_code(teams.change_role, team, bob, "owner", by) == "FORBIDDEN"
    assert refused_code(teams.add_member, team, charlie, "owner", Actor(user=charlie)) == "NOT_FOUND"


def test_an_unknown_role_is_refused(alice, bob, charlie, team):
    assert refused_code(teams.add_member, team, charlie, "king", Actor(user=alice)) == "ROLE_UNKNOWN"
    assert refused_code(teams.change_role, team, bob, "king", Actor(user=alice)) == "ROLE_UNKNOWN"


def test_a_role_can_be_changed(alice, bob, team):
    teams.change_role(team, bob, "maintainer", Actor(user=alice))
    assert role_of(bob, team) == Role.MAINTAINER
    assert AuditEntry.objects.get(action="member.role").detail == {"role": "maintainer", "before": "member"}


def test_the_last_owner_stays(alice, bob, administrator, team):
    for by in (Actor(user=alice), Actor(user=administrator)):
        assert refused_code(teams.change_role, team, alice, "member", by) == "LAST_OWNER"
        assert refused_code(teams.remove_member, team, alice, by) == "LAST_OWNER"
    teams.change_role(team, bob, "owner", Actor(user=alice))
    teams.remove_member(team, alice, Actor(user=alice))
    assert refused_code(teams.remove_member, team, bob, Actor(user=bob)) == "LAST_OWNER"


def test_anybody_may_leave_but_not_by_a_token(bob, team):
    by_token = Actor(user=bob, token=Token(owner=bob))
    assert refused_code(teams.remove_member, team, bob, by_token) == "FORBIDDEN"
    teams.remove_member(team, bob, Actor(user=bob))
    assert not Membership.objects.filter(user=bob).exists()


def test_who_is_not_on_the_team_cannot_be_removed_from_it(alice, charlie, team):
    assert refused_code(teams.remove_member, team, charlie, Actor(user=alice)) == "NOT_FOUND"


def test_a_team_is_seen_by_its_members_and_where_one_of_its_skills_is(alice, charlie, administrator, team):
    def seen_by(actor):
        return Team.objects.visible_to(actor).filter(pk=team.pk).exists()

    skill = Skill.objects.create(team=team, slug="report", name="Report")
    assert seen_by(Actor(user=alice))
    assert seen_by(Actor(user=administrator))
    assert not seen_by(Actor(user=charlie))
    skill.visibility = "site"
    skill.save()
    assert seen_by(Actor(user=charlie))
    assert not seen_by(ANONYMOUS)
