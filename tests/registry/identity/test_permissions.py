from __future__ import annotations

import itertools
import re

import pytest

from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.permissions import SCOPES, TABLE, Action, Standing, may, require, standing
from registry.models import Membership, Role, RunReaders, Scope, Skill, Token, Visibility
from registry.packages.problems import Refusal
from tests.checks import not_none
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

VISIBILITIES = ["private", "site", "public"]
CELLS = list(itertools.product(Action, Standing, VISIBILITIES))


def documented(heading):
    """The rows of the first table after the heading, as lists of cells."""
    text = (ROOT / "docs" / "reference" / "permissions.md").read_text().partition(f"# {heading}\n")[2]
    table = not_none(re.search(r"^\|.*\n\|[-|]+\n((?:\|.*\n?)+)", text, re.M))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


@pytest.fixture
def person_of(team, django_user_model, administrator):
    def person(kind):
        if kind == Standing.ANONYMOUS:
            return ANONYMOUS
        if kind == Standing.ADMINISTRATOR:
            return Actor(user=administrator)
        user = django_user_model.objects.create_user(username=f"a-{kind}")
        if kind != Standing.STRANGER:
            Membership.objects.create(team=team, user=user, role=Role(kind.value))
        return Actor(user=user)

    return person


@pytest.fixture
def skill(team):
    return Skill.objects.create(team=team, slug="report", name="Report")


@pytest.mark.row("P2")
def test_the_documented_table_is_the_one_in_code():
    assert documented("Actions by role") == [[action.value, *cells] for action, cells in TABLE.items()]


@pytest.mark.row("P2")
def test_the_documented_scopes_are_the_ones_in_code():
    in_code = [[s.value, ", ".join(a.value for a in Action if a in actions)] for s, actions in SCOPES.items()]
    assert documented("Access tokens") == in_code


@pytest.mark.row("P2")
@pytest.mark.parametrize(("action", "kind", "visibility"), CELLS)
def test_every_cell_is_what_the_page_says(person_of, skill, action, kind, visibility):
    row = next(row for row in documented("Actions by role") if row[0] == action.value)
    said = row[1 + list(Standing).index(kind)]
    expected = {"yes": True, "no": False, "site": visibility != "private", "public": visibility == "public"}
    skill.visibility, actor = visibility, person_of(kind)
    for readers in RunReaders:
        skill.team.run_readers = readers
        expected["shared"] = readers == RunReaders.TEAM
        assert may(actor, action, skill=skill) is expected[said]


@pytest.mark.row("P2")
@pytest.mark.parametrize("kind", Standing)
def test_seeing_by_the_table_and_by_the_queryset_is_one(person_of, skill, kind):
    actor = person_of(kind)
    for visibility, type_ in itertools.product(Visibility, ["", "direct", "internal"]):
        skill.visibility, skill.type = visibility, type_
        skill.save()
        listed = Skill.objects.visible_to(actor).filter(pk=skill.pk).exists()
        assert listed is may(actor, Action.SEE, skill=skill), (visibility, type_)


@pytest.mark.row("C3")
def test_an_internal_skill_is_its_teams_even_when_it_is_public(skill, bob, charlie):
    skill.visibility, skill.type = Visibility.PUBLIC, "internal"
    assert may(Actor(user=bob), Action.SEE, skill=skill)
    assert not may(Actor(user=charlie), Action.SEE, skill=skill)
    assert not may(Actor(user=charlie), Action.RUN, skill=skill)


@pytest.mark.row("P2")
@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("action", Action)
def test_a_token_may_what_its_scope_names_and_its_owner_may(team, skill, alice, scope, action):
    token = Token(owner=alice, scopes=[scope.value])
    actor = Actor(user=alice, token=token, scopes=frozenset({scope.value}))
    owner_may = may(Actor(user=alice), action, skill=skill)
    assert may(actor, action, skill=skill) is (owner_may and action in SCOPES[scope])


@pytest.mark.row("P2")
def test_no_scope_lets_a_token_decide_for_a_person(administrator, skill):
    actor = Actor(user=administrator, token=Token(owner=administrator, scopes=Scope.values))
    for action in (Action.APPROVE, Action.GRANT, Action.SET_CANONICAL, Action.TRANSFER, Action.DELETE):
        assert not may(actor, action, skill=skill)


@pytest.mark.row("P2")
def test_a_token_loses_what_its_owner_loses(team, skill, alice):
    token = Token(owner=alice, scopes=Scope.values)
    assert may(Actor(user=alice, token=token), Action.PUBLISH, team=team)
    Membership.objects.filter(user=alice).update(role=Role.VIEWER)
    assert not may(Actor(user=alice, token=token), Action.PUBLISH, team=team)


@pytest.mark.row("P2")
def test_a_token_of_one_team_is_a_stranger_to_the_others(team, charlie, administrator):
    bound = Token(owner=administrator, team=charlie.memberships.get().team, scopes=Scope.values)
    assert standing(Actor(user=administrator, token=bound), team.pk) == Standing.STRANGER


@pytest.mark.row("P2")
def test_what_may_not_be_seen_is_refused_as_absent(skill, charlie):
    with pytest.raises(Refusal) as refused:
        require(Actor(user=charlie), Action.DELETE, skill=skill)
    assert refused.value.code == "NOT_FOUND"
    with pytest.raises(Refusal) as refused:
        require(Actor(user=charlie), Action.PUBLISH, team=skill.team)
    assert refused.value.code == "NOT_FOUND"


@pytest.mark.row("P2")
def test_what_may_be_seen_is_refused_as_forbidden(skill, bob, charlie):
    with pytest.raises(Refusal) as refused:
        require(Actor(user=bob), Action.DELETE, skill=skill)
    assert refused.value.code == "FORBIDDEN"
    Skill.objects.update(visibility=Visibility.SITE)
    with pytest.raises(Refusal) as refused:
        require(Actor(user=charlie), Action.PUBLISH, team=skill.team)
    assert refused.value.code == "FORBIDDEN"
