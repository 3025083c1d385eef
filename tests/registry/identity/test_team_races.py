"""Two requests at the same time never leave a team without an owner or a site without an administrator."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from registry.accounts import users
from registry.identity import teams
from registry.identity.actors import Actor
from registry.models import Membership, Role, Team, User
from registry.packages.problems import Refusal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P2")]


def at_once(*calls):
    """The refusal codes of the calls, which start together in threads of their own; "" for success."""
    barrier = threading.Barrier(len(calls))

    def attempt(call):
        try:
            barrier.wait()
            call()
            return ""
        except Refusal as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(pool.map(attempt, calls))


@pytest.fixture
def pair(db):
    return [User.objects.create(username=name) for name in ("first", "second")]


@pytest.mark.parametrize("how", ["leave", "demote each other"])
def test_two_owners_cannot_both_go(pair, how):
    team = Team.objects.create(slug="docs")
    for user in pair:
        Membership.objects.create(team=team, user=user, role=Role.OWNER)
    first, second = pair
    if how == "leave":
        codes = at_once(*[lambda u=user: teams.remove_member(team, u, Actor(user=u)) for user in pair])
    else:
        codes = at_once(
            lambda: teams.change_role(team, second, "viewer", Actor(user=first)),
            lambda: teams.change_role(team, first, "viewer", Actor(user=second)),
        )
    assert codes[0] == ""
    assert codes[1] in ("LAST_OWNER", "FORBIDDEN")
    assert Membership.objects.filter(team=team, role=Role.OWNER).count() == 1


@pytest.mark.parametrize(
    "change", [users.deactivate, lambda user, by: users.set_administrator(user, False, by)]
)
def test_two_administrators_cannot_both_go(pair, change):
    User.objects.update(is_superuser=True)
    first, second = User.objects.order_by("pk")
    codes = at_once(
        lambda: change(second, Actor(user=first)),
        lambda: change(first, Actor(user=second)),
    )
    assert codes == ["", "LAST_ADMINISTRATOR"]
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_of_two_rotations_at_once_one_secret_stays(pair):
    from datetime import timedelta

    from django.utils import timezone

    from registry.identity import tokens

    user = pair[0]
    me, until = Actor(user=user), timezone.now() + timedelta(days=1)
    token, secret = tokens.issue(user, name="ci", scopes=["read"], expires_at=until, by=me)
    made: list[str] = []
    at_once(*[lambda: made.append(tokens.rotate(token, me)[1])] * 2)
    with pytest.raises(Refusal):
        tokens.actor_of(secret)
    assert [tokens.actor_of(each).token for each in made] == [token, token]
