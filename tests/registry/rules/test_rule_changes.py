"""Permission rules: who adds, removes and restores them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Team
from registry.rules import decision, edit
from tests.refusing import code
from tests.registry.rules.samples import NETWORK, TOOLS, decided

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]


@pytest.mark.parametrize(
    ("role", "narrows", "widens"),
    [
        (Role.OWNER, True, True),
        (Role.MAINTAINER, True, False),
        (Role.MEMBER, False, False),
        (Role.VIEWER, False, False),
    ],
)
def test_maintainers_narrow_and_owners_widen(team, owner, bob, publish_skill, role, narrows, widens):
    publish_skill()
    Membership.objects.filter(user=bob).update(role=role)
    allowance, denial = (
        edit.add_rule(team, "allow", "docs/report", owner),
        edit.add_rule(team, "deny", "x", owner),
    )
    calls: list[tuple[Callable[..., object], tuple[object, ...], bool]] = [
        (edit.add_rule, (team, "deny", "y"), narrows),
        (edit.add_rule, (team, "allow", "docs/:*"), widens),
        (edit.remove_rule, (allowance,), narrows),
        (edit.remove_rule, (denial,), widens),
        (edit.restore_rule, (denial,), narrows),
        (edit.restore_rule, (allowance,), widens),
    ]
    for call, args, may in calls:
        if may:
            call(*args, Actor(user=bob))
        else:
            assert code(call, *args, Actor(user=bob)) == "FORBIDDEN"
    assert set(edit.rules_of(team, Actor(user=bob)))


def test_no_token_changes_a_rule(team, owner, alice, publish_skill, token_of, administrator):
    publish_skill()
    rule = edit.add_rule(team, "deny", "x", owner)
    for agent in (token_of(alice), token_of(administrator)):
        for call, args in (
            (edit.add_rule, (team, "deny", "y")),
            (edit.add_rule, (team, "allow", "docs/report")),
            (edit.remove_rule, (rule,)),
            (edit.restore_rule, (rule,)),
            (edit.add_rule, (agent.token, "deny", "y")),
        ):
            assert code(call, *args, agent) == "FORBIDDEN"


def test_a_stranger_learns_no_rule(team, owner, charlie, publish_skill):
    publish_skill(visibility="public")
    rule = edit.add_rule(team, "deny", "x", owner)
    assert code(edit.rules_of, team, Actor(user=charlie)) == "FORBIDDEN"
    assert code(edit.find_rule, rule.uid, Actor(user=charlie)) == "NOT_FOUND"
    assert code(edit.find_rule, "absent", Actor(user=charlie)) == "NOT_FOUND"


def test_an_allowance_needs_a_skill_that_its_maker_may_see_and_a_denial_none(
    team, owner, charlie, publish_skill
):
    away = Team.objects.get(slug="elsewhere")
    publish_skill("secret", into=away, by=Actor(user=charlie))
    for name in ("elsewhere/secret", "elsewhere/absent", "secret", "absent"):
        assert code(edit.add_rule, team, "allow", name, owner) == "NOT_FOUND"
        assert edit.add_rule(team, "deny", name, owner)


@pytest.mark.parametrize(
    ("effect", "name", "expected"),
    [
        ("deny", ":*", "RULE_NAME_INVALID"),
        ("allow", "no such name", "RULE_NAME_INVALID"),
        ("perhaps", "docs/report", "RULE_EFFECT_UNKNOWN"),
    ],
)
def test_what_is_no_rule_is_refused(team, owner, effect, name, expected):
    assert code(edit.add_rule, team, effect, name, owner) == expected


def test_a_holder_has_so_many_rules_and_no_more(team, owner, monkeypatch):
    monkeypatch.setattr("registry.rules.edit.MAX_RULES", 1)
    edit.add_rule(team, "deny", "x", owner)
    assert edit.add_rule(team, "deny", "x", owner)
    assert code(edit.add_rule, team, "deny", "y", owner) == "RULE_LIMIT"


def test_a_removed_rule_holds_no_more_and_comes_back_as_it_was(team, owner, others):
    others(**TOOLS)
    rule = edit.add_rule(team, "allow", "elsewhere/report", owner)
    second = others(version="2.0.0", security=NETWORK, **TOOLS)
    edit.remove_rule(rule, owner)
    assert decided(second, team)[0] == "ask"
    assert not edit.rules_of(team, owner)
    edit.restore_rule(rule, owner)
    assert decision.decide(second, team=team).added_permissions.document() == {"hosts": ["api.example"]}
    edit.remove_rule(rule, owner)
    edit.add_rule(team, "allow", "elsewhere/report", owner)
    assert code(edit.restore_rule, rule, owner) == "RULE_IN_PLACE"


def test_every_change_is_in_the_audit(team, owner, others):
    others(**TOOLS)
    rule = edit.add_rule(team, "allow", "elsewhere/report", owner)
    edit.remove_rule(edit.remove_rule(rule, owner), owner)
    edit.restore_rule(rule, owner)
    rows = AuditEntry.objects.filter(team=team, action__startswith="rule.").order_by("pk")
    assert [(row.action, row.target) for row in rows] == [
        ("rule.add", "allow elsewhere/report"),
        ("rule.remove", "allow elsewhere/report"),
        ("rule.restore", "allow elsewhere/report"),
    ]
    assert rows[0].detail["granted"]["tools"] == ["Bash"]
