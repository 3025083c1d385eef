from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse

from registry.accounts import service_accounts
from registry.core import addresses
from registry.identity import audit
from registry.identity.actors import ANONYMOUS, Actor, administrator_actor, shell_actor
from registry.identity.middleware import ActorMiddleware
from registry.models import Token
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def actor_in_view(rf):
    def of(user):
        request = rf.get("/")
        request.user = user
        ActorMiddleware(lambda _: HttpResponse())(request)
        return request.actor

    return of


def test_the_actor_of_a_request_is_the_sessions_person(actor_in_view, alice):
    assert actor_in_view(alice) == Actor(user=alice)
    assert actor_in_view(AnonymousUser()) == ANONYMOUS


def test_a_person_who_is_no_longer_active_is_a_stranger(actor_in_view, alice):
    alice.is_active = False
    assert actor_in_view(alice) == ANONYMOUS


def test_a_request_that_nobody_asks_for_its_actor_reads_nothing(rf, django_assert_num_queries):
    with django_assert_num_queries(0):
        ActorMiddleware(lambda request: HttpResponse())(rf.get("/"))


def test_the_shell_is_the_administrator_with_or_without_an_account(db, administrator):
    assert administrator_actor().user == administrator
    assert administrator_actor().is_administrator
    administrator.delete()
    nobody = shell_actor()
    assert nobody.is_administrator
    assert nobody.is_signed_in
    assert nobody.caller == "shell"


def test_the_shell_can_act_as_somebody_with_no_more_than_their_power(bob):
    actor = shell_actor("bob")
    assert (actor.user, actor.is_administrator) == (bob, False)
    with pytest.raises(Refusal):
        shell_actor("nobody")


def test_shell_cannot_act_as_service_account(team, alice):
    account = service_accounts.create(team, "ci", "member", Actor(user=alice))
    with pytest.raises(Refusal) as refused:
        shell_actor(account.user.username)
    assert refused.value.code == "SERVICE_ACCOUNT_IN_SHELL"


def test_callers_are_held_apart(alice, bob):
    callers = {ANONYMOUS.caller, Actor(user=alice).caller, Actor(user=bob).caller, shell_actor().caller}
    assert len(callers) == 4


def test_an_entry_says_who_by_which_token_did_what(alice, team):
    entry = audit.record(
        Actor(user=alice, token=Token(name="ci")), "x.do", "t" * 300, team=team, why="because"
    )
    entry.refresh_from_db()
    assert (entry.user, entry.token_name, entry.team) == (alice, "ci", team)
    assert (entry.action, len(entry.target), entry.detail) == ("x.do", 200, {"why": "because"})


def test_addresses_come_from_the_setting(settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example/base"
    assert addresses.absolute_url("/skills/") == "https://skills.example/base/skills/"
