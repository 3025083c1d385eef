"""What agents may run unasked: deny → canonical → allow → only safe properties → ask."""

from __future__ import annotations

import itertools

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.canonical.pins import set_canonical
from registry.identity.actors import Actor, shell_actor
from registry.models import Membership, Role, Rule
from registry.packages.package import Security
from registry.packages.problems import Refusal
from registry.packages.rule_names import matches
from registry.packages.unsafe_properties import permissions_from_document
from registry.rules import coverage, decision, edit, requested_permissions
from registry.versions.lifecycle import rename as moving
from tests.checks import not_none
from tests.refusing import code
from tests.registry.rules.samples import NETWORK, SCRIPT, TOOLS, decided

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


# Every cell of the order: which of the four speak for the skill, and what that comes to.
CELLS = list(itertools.product([False, True], repeat=4))


@pytest.mark.parametrize(("deny", "canonical", "allow", "safe"), CELLS)
@pytest.mark.parametrize("kind", ["elsewhere/report", "elsewhere/:*", "else:*"])
def test_the_first_that_speaks_decides(team, owner, root, others, kind, deny, canonical, allow, safe):
    version = others(**({} if safe else TOOLS))
    if canonical:
        set_canonical("report", version, root, reason="Ours.")
    for effect, is_there in (("deny", deny), ("allow", allow)):
        if is_there:
            edit.add_rule(team, effect, kind, owner)
    expected = (
        ("deny", "rule")
        if deny
        else ("allow", "canonical")
        if canonical
        else ("allow", "rule")
        if allow
        else ("allow", "safe")
        if safe
        else ("ask", "none")
    )
    found = decision.decide(version, team=team)
    assert (found.outcome, found.by) == expected
    assert (found.rule is not None) is (found.by == "rule")
    assert found.rule is None or (found.rule.effect, found.rule.name) == (expected[0], kind)


@pytest.mark.parametrize(
    ("name", "is_about"),
    [
        ("docs/report", True),
        ("/docs/report", True),
        ("Docs/Report", True),
        ("report", True),
        ("/report", True),
        ("rep:*", True),
        ("docs/rep:*", True),
        ("elsewhere/report", False),
        ("repo", False),
        ("docs/x:*", False),
    ],
)
def test_a_rule_is_about_the_address_and_ones_own_slug(team, owner, publish_skill, name, is_about):
    version = publish_skill(**TOOLS)
    edit.add_rule(team, "deny", name, owner)
    assert decided(version, team)[0] == ("deny" if is_about else "ask")


def test_a_bare_slug_is_never_another_teams_skill_unless_it_is_canonical(team, owner, root, others):
    version = others(**TOOLS)
    edit.add_rule(team, "deny", "report", owner)
    assert decided(version, team) == ("ask", "none")
    set_canonical("report", version, root, reason="Ours.")
    assert decided(version, team) == ("deny", "rule")
    other = edit.add_rule(team, "deny", "_canonical_:*", owner)
    edit.remove_rule(Rule.objects.get(name="report"), owner)
    assert decision.decide(version, team=team).rule == other


def test_a_script_of_ones_own_team_asks_nobody_and_one_of_another_team_does(team, publish_skill, others):
    variables = Security(environment={"ZONE": "UTC"})
    assert decided(publish_skill("own", files=SCRIPT), team) == ("allow", "safe")
    found = decision.decide(publish_skill("set", files=SCRIPT, security=variables), team=team)
    assert (found.outcome, found.unsafe_properties) == ("ask", ("security.environment",))
    assert decided(publish_skill("other", files=SCRIPT, extra={"scripts": [1]}), team)[0] == "ask"
    found = decision.decide(others(files=SCRIPT, security=variables), team=team)
    assert (found.outcome, found.unsafe_properties) == ("ask", ("scripts/", "security.environment"))
    assert (found.exact, found.prefix) == ("elsewhere/report", "elsewhere/report:*")


@pytest.mark.parametrize("name", ["elsewhere/report", "elsewhere/:*", "elsewhere/report:*"])
def test_a_version_that_asks_for_more_asks_again_and_shows_what_is_new(team, owner, others, name):
    first = others(**TOOLS)
    edit.add_rule(team, "allow", name, owner)
    same = others(version="1.1.0", description="Better.", **TOOLS)
    less = others(version="1.2.0", allowed_tools=("Bash(git log:*)",))
    more = others(version="2.0.0", security=NETWORK, extra={"sudo": True}, files=SCRIPT, **TOOLS)
    for version in (first, same, less):
        assert decided(version, team) == ("allow", "rule")
    found = decision.decide(more, team=team)
    assert (found.outcome, not_none(found.rule).name) == ("ask", name)
    assert found.added_permissions.document() == {
        "hosts": ["api.example"],
        "properties": ["scripts/", "sudo: true"],
    }
    edit.add_rule(team, "allow", name, owner)
    assert decided(more, team) == ("allow", "rule")
    assert Rule.objects.filter(removed_at=None).count() == 1


def test_the_canonical_pass_holds_for_what_was_vouched_for(team, root, others):
    set_canonical("report", others(**TOOLS), root, reason="Ours.")
    assert decided(others(version="1.1.0", **TOOLS), team) == ("allow", "canonical")
    more = others(version="2.0.0", security=NETWORK, **TOOLS)
    found = decision.decide(more, team=team)
    assert (found.outcome, found.added_permissions.document()) == ("ask", {"hosts": ["api.example"]})


def test_a_prefix_holds_for_later_skills_that_ask_for_no_more(team, owner, others):
    others(**TOOLS)
    edit.add_rule(team, "allow", "elsewhere/:*", owner)
    assert decided(others("other", **TOOLS), team) == ("allow", "rule")
    assert decided(others("third", hooks={"Stop": "x"}), team)[0] == "ask"


def test_a_rule_may_be_given_for_an_earlier_version(team, owner, others):
    first, second = others(**TOOLS), others(version="2.0.0", security=NETWORK, **TOOLS)
    rule = edit.add_rule(team, "allow", "elsewhere/report", owner, number="1.0.0")
    assert rule.granted_to == str(first)
    assert decided(second, team)[0] == "ask"


def test_a_denial_follows_a_skill_to_its_new_name_and_an_allowance_does_not(team, owner, others, charlie):
    version = others(**TOOLS)
    edit.add_rule(team, "allow", "elsewhere/report", owner)
    moving.rename(version.skill, Actor(user=charlie), slug="harmless")
    version.skill.refresh_from_db()
    assert decided(version, team) == ("ask", "none")
    edit.add_rule(team, "deny", "elsewhere/report", owner)
    assert decided(version, team) == ("deny", "rule")


# Tokens


def test_a_tokens_rules_hold_for_that_token_alone(team, owner, alice, others, token_of):
    version, agent = others(**TOOLS), token_of(alice)
    edit.add_rule(agent.token, "allow", "elsewhere/report", owner)
    assert decided(version, team, agent.token) == ("allow", "rule")
    assert decided(version, team, token_of(alice).token) == ("ask", "none")
    assert decided(version, team) == ("ask", "none")


@pytest.mark.parametrize(("first", "second"), [("team", "token"), ("token", "team")])
def test_neither_a_team_nor_a_token_allows_what_the_other_denies(
    team, owner, alice, others, token_of, first, second
):
    version, agent = others(), token_of(alice)
    holders = {"team": team, "token": agent.token}
    edit.add_rule(holders[first], "deny", "elsewhere/:*", owner)
    edit.add_rule(holders[second], "allow", "elsewhere/report", owner)
    assert decided(version, team, agent.token) == ("deny", "rule")


def test_what_a_token_is_allowed_counts_while_its_owner_may_grant_it(team, owner, alice, others, token_of):
    version, agent = others(**TOOLS), token_of(alice)
    edit.add_rule(agent.token, "allow", "elsewhere/report", owner)
    edit.add_rule(agent.token, "deny", "elsewhere/other", owner)
    Membership.objects.filter(user=alice, team=team).update(role=Role.MAINTAINER)
    assert decided(version, team, agent.token) == ("ask", "none")
    assert decided(others("other"), team, agent.token) == ("deny", "rule")


def test_a_member_denies_their_token_and_cannot_allow_it(team, bob, others, token_of):
    others(**TOOLS)
    agent, person = token_of(bob, team), Actor(user=bob)
    assert code(edit.add_rule, agent.token, "allow", "elsewhere/report", person) == "FORBIDDEN"
    assert edit.add_rule(agent.token, "deny", "elsewhere/report", person)


def test_a_tokens_rules_are_there_for_its_owner_in_person_alone(alice, bob, owner, token_of, root):
    agent = token_of(alice)
    rule = edit.add_rule(agent.token, "deny", "x", owner)
    for who in (Actor(user=bob), agent, token_of(bob)):
        assert code(edit.rules_of, agent.token, who) == "NOT_FOUND"
        assert code(edit.find_rule, rule.uid, who) == "NOT_FOUND"
    assert list(edit.rules_of(agent.token, root)) == [rule]


# What it comes to for a run


def test_a_denial_binds_everybody_and_an_ask_agents_alone(team, owner, alice, others, token_of):
    version, agent = others(**TOOLS), token_of(alice)
    asks = decision.decide(version, team=team)
    for person in (owner, shell_actor("")):
        decision.require_allowed_for(asks, person)
    with pytest.raises(Refusal) as refused:
        decision.require_allowed_for(asks, agent)
    params = refused.value.problems[0].params
    assert refused.value.code == "APPROVAL_NEEDED"
    assert (params["exact"], params["prefix"]) == ("elsewhere/report", "elsewhere/report:*")
    assert params["asks"] == "allowed_tools"
    assert str(params["page"]).endswith("/skills/elsewhere/report/run/?version=1.0.0")
    edit.add_rule(team, "deny", "elsewhere/:*", owner)
    for who in (owner, agent, shell_actor("")):
        with pytest.raises(Refusal) as refused:
            decision.require_allowed_for(decision.decide(version, team=team, token=who.token), who)
        assert refused.value.code == "RULE_DENIED"
        assert refused.value.problems[0].params["rule"] == "elsewhere/:*"


def test_a_skill_asked_about_by_somebody_without_a_team_is_decided_by_what_it_is(others, publish_skill):
    assert decided(others(), None) == ("allow", "safe")
    assert decided(publish_skill(files=SCRIPT), None) == ("ask", "none")


def test_run_without_a_team_is_allowed_by_a_rule_of_its_token(others, bob, token_of):
    version, agent = others(**TOOLS), token_of(bob)
    with pytest.raises(Refusal) as refused:
        decision.require_allowed_for(decision.decide(version, team=None, token=agent.token), agent)
    assert refused.value.code == "APPROVAL_NEEDED_WITHOUT_TEAM"
    exact = str(refused.value.problems[0].params["exact"])
    edit.add_rule(agent.token, "allow", exact, Actor(user=bob))
    assert decided(version, None, agent.token) == ("allow", "rule")


# For all rules

NAMES = st.sampled_from(
    ["docs/report", "docs/:*", "report", "rep:*", "d:*", "elsewhere/report", "else:*", "elsewhere/:*", "x"]
)
RULES = st.lists(st.tuples(st.sampled_from(["allow", "deny"]), NAMES, st.booleans()), max_size=6, unique=True)
EACH = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@EACH
@given(given_rules=RULES, sudo=st.booleans())
def test_denial_wins_always_and_a_new_field_never_makes_an_ask_an_allowance(
    team, owner, alice, others, token_of, given_rules, sudo
):
    Rule.objects.all().delete()
    version, token = others(**TOOLS), token_of(alice).token
    granted = requested_permissions.version_permissions(version).document()
    for effect, name, of_token in given_rules:
        holder = {"token": token} if of_token else {"team": team}
        Rule.objects.create(effect=effect, name=name, granted=granted, created_at=timezone.now(), **holder)
    found = decision.decide(version, team=team, token=token)
    denied = any(effect == "deny" and matches(name, [str(version.skill)]) for effect, name, _ in given_rules)
    assert (found.outcome == "deny") is denied
    version.manifest = {**version.manifest, "extra": {"sudo": sudo}}
    assert decision.decide(version, team=team, token=token).outcome == ("deny" if denied else "ask")


@EACH
@given(name=NAMES)
def test_what_the_page_says_that_a_rule_covers_is_what_it_decides(
    team, owner, root, publish_skill, others, name
):
    versions = [publish_skill(), publish_skill("other"), others(), others("x")]
    set_canonical("x", versions[3], root, reason="Ours.")
    covered = set(coverage.covered_skills(name, team, root))
    for version in versions:
        assert (version.skill in covered) is matches(name, coverage.rule_names(version.skill, team)), version


def test_what_was_granted_survives_storage(team, owner, others):
    version = others(security=NETWORK, files=SCRIPT, extra={"sudo": True}, hooks={"Stop": "x"}, **TOOLS)
    edit.add_rule(team, "allow", "elsewhere/report", owner)
    assert permissions_from_document(Rule.objects.get().granted) == requested_permissions.version_permissions(
        version
    )
