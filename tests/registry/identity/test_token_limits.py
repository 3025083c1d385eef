"""Tokens that manage tokens: rotation, undo, and what a token can never give out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import client_address, tokens
from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Rule, Team, Token
from registry.packages.problems import Refusal
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def in_days(days):
    return timezone.now() + timedelta(days=days)


def issue(user, *scopes, days=30.0, team=None, by=None):
    """A token and its secret, issued in a session of ``user`` unless ``by`` is given."""
    given = {"name": "ci", "scopes": scopes, "expires_at": in_days(days), "team": team}
    return tokens.issue(user, **given, by=by or Actor(user=user))


@pytest.fixture
def acting(alice):
    """The actor of Alice's token, which can manage tokens."""
    return tokens.actor_of(issue(alice, "administer", "read", days=10)[1])


@pytest.mark.parametrize(
    ("scopes", "days", "field"),
    [
        (["read", "publish"], 5, "scopes"),
        (["run"], 5, "scopes"),
        (["read"], 11, "expires_at"),
    ],
)
def test_token_creates_no_token_that_can_do_more(alice, acting, scopes, days, field):
    given = {"name": "x", "scopes": scopes, "expires_at": in_days(days), "by": acting}
    with pytest.raises(Refusal) as refused:
        tokens.issue(alice, **given)
    assert (refused.value.code, refused.value.problems[0].path) == ("TOKEN_LIMIT_EXCEEDED", field)
    assert Token.objects.count() == 1


def test_token_creates_a_token_within_its_limits(alice, acting):
    _, secret = issue(alice, "read", days=5, by=acting)
    assert tokens.actor_of(secret).scopes == {"read"}


def test_token_of_a_team_creates_only_tokens_of_that_team(alice, team):
    other = Team.objects.create(slug="other")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    acting = tokens.actor_of(issue(alice, "administer", team=team)[1])
    for wrong in (None, other):
        assert code(issue, alice, "administer", days=5, team=wrong, by=acting) == "TOKEN_LIMIT_EXCEEDED"
    assert issue(alice, "administer", days=5, team=team, by=acting)


def test_token_with_deny_rules_creates_no_token_without_them(alice, acting):
    Rule.objects.create(token=acting.token, effect="deny", name="docs/:*", created_at=timezone.now())
    assert code(issue, alice, "read", days=5, by=acting) == "TOKEN_LIMIT_EXCEEDED"


def test_token_without_administer_manages_no_tokens(alice):
    token, secret = issue(alice, "read", "run", "publish", "settings")
    acting = tokens.actor_of(secret)
    assert code(issue, alice, "read", days=5, by=acting) == "TOKEN_SCOPE_MISSING"
    assert code(tokens.rotate, token, acting) == "TOKEN_SCOPE_MISSING"
    assert code(tokens.find_token, token.uid, acting) == "NOT_FOUND"


def test_token_rotates_no_token_that_can_do_more(alice, acting):
    wider, _ = issue(alice, "administer", "publish", days=5)
    later, _ = issue(alice, "administer", "read", days=20)
    equal, _ = issue(alice, "administer", "read", days=5)
    assert code(tokens.rotate, wider, acting) == "TOKEN_LIMIT_EXCEEDED"
    assert code(tokens.rotate, later, acting) == "TOKEN_LIMIT_EXCEEDED"
    assert code(tokens.rotate, equal, acting, expires_at=in_days(20)) == "TOKEN_LIMIT_EXCEEDED"
    assert tokens.rotate(equal, acting)
    Rule.objects.create(token=equal, effect="allow", name="docs/:*", created_at=timezone.now())
    assert code(tokens.rotate, equal, acting) == "TOKEN_LIMIT_EXCEEDED"


def test_token_manages_no_tokens_of_other_people(bob, administrator):
    theirs, _ = issue(bob, "read")
    acting = tokens.actor_of(issue(administrator, "administer", "read")[1])
    assert code(tokens.find_token, theirs.uid, acting) == "NOT_FOUND"
    assert code(tokens.rotate, theirs, acting) == "FORBIDDEN"
    assert code(tokens.revoke, theirs, acting) == "FORBIDDEN"
    assert code(issue, bob, "read", days=1, by=acting) == "FORBIDDEN"


def test_rotated_secret_works_for_the_overlap_and_a_second_rotation_ends_it(alice):
    me = Actor(user=alice)
    token, first = issue(alice, "read")
    token, second = tokens.rotate(token, me, overlap_hours=2)
    assert tokens.actor_of(first).token == tokens.actor_of(second).token == token
    token, third = tokens.rotate(token, me)
    assert code(tokens.actor_of, first) == "TOKEN_INVALID"
    assert tokens.actor_of(second)
    Token.objects.update(previous_expires_at=timezone.now())
    assert code(tokens.actor_of, second) == "TOKEN_INVALID"
    token, fourth = tokens.rotate(token, me, overlap_hours=0)
    assert code(tokens.actor_of, third) == "TOKEN_INVALID"
    assert tokens.actor_of(fourth)


def test_token_rotates_itself(alice, acting):
    assert acting.token
    _, secret = tokens.rotate(acting.token, acting, overlap_hours=0)
    assert tokens.actor_of(secret).token == acting.token


def test_ended_token_and_long_overlap_are_refused(alice):
    token, secret = issue(alice, "read")
    me = Actor(user=alice)
    assert code(tokens.rotate, token, me, overlap_hours=169) == "OVERLAP_INVALID"
    tokens.revoke(token, me)
    assert code(tokens.rotate, token, me) == "TOKEN_ENDED"
    assert code(tokens.actor_of, secret) == "TOKEN_INVALID"


def test_revocation_ends_both_secrets_and_can_be_undone_once(alice):
    me = Actor(user=alice)
    token, first = issue(alice, "read")
    token, second = tokens.rotate(token, me)
    tokens.revoke(token, me)
    assert {code(tokens.actor_of, secret) for secret in (first, second)} == {"TOKEN_INVALID"}
    tokens.restore(token, me)
    assert tokens.actor_of(second).token == token
    assert code(tokens.restore, token, me) == "UNDO_EXPIRED"
    assert [*AuditEntry.objects.order_by("pk").values_list("action", flat=True)][-2:] == [
        "token.revoke",
        "token.restore",
    ]


@pytest.mark.parametrize("late", ["later", "expired", "by the administrator", "by a token"])
def test_revocation_can_be_undone_only_by_its_author_in_time(alice, administrator, late):
    me = Actor(user=alice)
    token, _ = issue(alice, "read")
    tokens.revoke(token, Actor(user=administrator) if late == "by the administrator" else me)
    if late == "later":
        Token.objects.update(revoked_at=timezone.now() - tokens.UNDO_PERIOD)
    elif late == "expired":
        Token.objects.update(expires_at=timezone.now())
    elif late == "by a token":
        me = tokens.actor_of(issue(alice, "administer", "read")[1])
    assert code(tokens.restore, token, me) == "UNDO_EXPIRED"
    assert Token.objects.get(pk=token.pk).revoked_at


def test_last_use_is_stored_with_its_address(alice):
    token, secret = issue(alice, "read")
    with client_address.bind("192.0.2.7"):
        tokens.actor_of(secret)
    with client_address.bind("192.0.2.8"):  # within the same minute
        tokens.actor_of(secret)
    token.refresh_from_db()
    assert token.last_used_address == "192.0.2.7"
