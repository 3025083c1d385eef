from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import token_format, tokens
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import AuditEntry, Token
from registry.packages.problems import Refusal
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


def soon(**delta):
    return timezone.now() + timedelta(**(delta or {"days": 30}))


@pytest.fixture
def issued(alice):
    return tokens.issue(alice, name="ci", scopes=["read"], expires_at=soon(), by=Actor(user=alice))


def refused_code(call, *args, **kwargs):
    with pytest.raises(Refusal) as assert_error:
        call(*args, **kwargs)
    return assert_error.value.code


def test_secret_has_prefix_and_checksum_and_is_stored_hashed(issued):
    token, secret = issued
    assert re.fullmatch("sq_[0-9A-Za-z]{49}", secret)
    assert token_format.is_well_formed(secret)
    row = Token.objects.filter(pk=token.pk).values().get()
    assert secret not in str(row)
    assert secret.startswith(token.prefix)


def test_changed_secret_is_refused_without_a_query(issued, django_assert_num_queries):
    _, secret = issued
    for position in range(len(secret)):
        changed = "x" if secret[position] != "x" else "y"
        with django_assert_num_queries(0):
            other = secret[:position] + changed + secret[position + 1 :]
            assert refused_code(tokens.actor_of, other) == "TOKEN_INVALID"


def test_forged_checksum_opens_nothing(issued):
    forged = "sq_" + "a" * 43
    forged += token_format.checksum(forged)
    assert token_format.is_well_formed(forged)
    assert refused_code(tokens.actor_of, forged) == "TOKEN_INVALID"


def test_two_secrets_are_never_the_same(alice, issued):
    _, other = tokens.issue(alice, name="ci", scopes=["read"], expires_at=soon(), by=Actor(user=alice))
    assert other != issued[1]


def test_a_secret_speaks_for_its_owner_within_its_scopes(alice, issued):
    actor = tokens.actor_of(issued[1])
    assert actor.user == alice
    assert actor.token == issued[0]
    assert actor.scopes == {"read"}


@pytest.mark.parametrize("secret", ["", "sq_", "sq_" + "a" * 43, "sq_\0" + "a" * 42, "Bearer x", "sq_é" * 20])
def test_any_other_text_is_refused(issued, secret):
    assert refused_code(tokens.actor_of, secret) == "TOKEN_INVALID"


def test_an_expired_token_is_refused(issued):
    Token.objects.update(expires_at=timezone.now())
    assert refused_code(tokens.actor_of, issued[1]) == "TOKEN_INVALID"


def test_a_revoked_token_is_refused_at_once(alice, issued):
    tokens.revoke(issued[0], Actor(user=alice))
    assert refused_code(tokens.actor_of, issued[1]) == "TOKEN_INVALID"
    assert issued[0].revoked_at


def test_revoking_twice_changes_nothing(alice, issued):
    tokens.revoke(issued[0], Actor(user=alice))
    first = issued[0].revoked_at
    tokens.revoke(issued[0], Actor(user=alice))
    assert issued[0].revoked_at == first
    assert AuditEntry.objects.filter(action="token.revoke").count() == 1


def test_the_token_of_an_inactive_owner_is_refused(alice, issued):
    alice.is_active = False
    alice.save()
    assert refused_code(tokens.actor_of, issued[1]) == "TOKEN_INVALID"


def test_use_is_noted_once_a_minute(issued, django_assert_num_queries):
    tokens.actor_of(issued[1])
    first = Token.objects.get().last_used_at
    assert first
    with django_assert_num_queries(1):
        tokens.actor_of(issued[1])
    assert Token.objects.get().last_used_at == first
    Token.objects.update(last_used_at=first - timedelta(seconds=61))
    tokens.actor_of(issued[1])
    assert not_none(Token.objects.get().last_used_at) >= first


@pytest.mark.parametrize("delta", [{"seconds": -1}, {"days": 400}])
def test_a_token_expires_within_a_year(alice, delta):
    wrong = {"name": "ci", "scopes": ["read"], "expires_at": soon(**delta), "by": Actor(user=alice)}
    assert refused_code(tokens.issue, alice, **wrong) == "TOKEN_EXPIRY_INVALID"


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", "approve"]])
def test_a_token_needs_known_scopes(alice, scopes):
    wrong = {"name": "ci", "scopes": scopes, "expires_at": soon(), "by": Actor(user=alice)}
    assert refused_code(tokens.issue, alice, **wrong) == "TOKEN_SCOPE_UNKNOWN"


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "\ud800", "x" * 121])
def test_a_token_needs_a_name_that_is_text(alice, name):
    wrong = {"name": name, "scopes": ["read"], "expires_at": soon(), "by": Actor(user=alice)}
    assert refused_code(tokens.issue, alice, **wrong) == "TEXT_INVALID"


def test_only_the_owner_or_the_administrator_makes_and_ends_tokens(alice, bob, administrator, issued):
    same = {"name": "ci", "scopes": ["read"], "expires_at": soon()}
    by_token = tokens.actor_of(issued[1])
    for stranger in (Actor(user=bob), ANONYMOUS):
        assert refused_code(tokens.issue, alice, **same, by=stranger) == "FORBIDDEN"
        assert refused_code(tokens.revoke, issued[0], stranger) == "FORBIDDEN"
    assert refused_code(tokens.issue, alice, **same, by=by_token) == "TOKEN_SCOPE_MISSING"
    assert refused_code(tokens.revoke, issued[0], by_token) == "TOKEN_SCOPE_MISSING"
    assert tokens.issue(alice, **same, by=Actor(user=administrator))


def test_a_token_is_bound_to_a_team_of_its_owner_only(alice, charlie, team):
    same = {"name": "ci", "scopes": ["read"], "expires_at": soon()}
    elsewhere = charlie.memberships.get().team
    assert refused_code(tokens.issue, alice, **same, team=elsewhere, by=Actor(user=alice)) == "NOT_FOUND"
    _, secret = tokens.issue(alice, **same, team=team, by=Actor(user=alice))
    assert tokens.actor_of(secret).team_ids == {team.pk}


def test_making_a_token_is_audited_without_its_secret(issued):
    entry = AuditEntry.objects.get(action="token.issue")
    assert entry.detail == {"name": "ci", "scopes": ["read"]}
    assert issued[1] not in str(entry.__dict__)
