from __future__ import annotations

import pytest

from registry import subscriptions
from registry.actors import Actor
from registry.models import AuditEntry, Subscription, Team
from registry.packages.problems import Refused

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7")]


@pytest.fixture
def elsewhere(charlie, published):
    published("public", visibility="public")
    return Team.objects.get(slug="elsewhere")


def refusal(verb, *args):
    with pytest.raises(Refused) as caught:
        verb(*args)
    return caught.value.code


def test_a_maintainer_subscribes_once_and_takes_it_back(elsewhere, charlie):
    mine = Actor(user=charlie)
    for _ in range(2):
        subscriptions.subscribe(elsewhere, "docs", mine)
    assert [row.publisher.slug for row in subscriptions.subscriptions_of(elsewhere, mine)] == ["docs"]
    subscriptions.unsubscribe(elsewhere, "docs", mine)
    assert refusal(subscriptions.unsubscribe, elsewhere, "docs", mine) == "NOT_FOUND"
    actions = AuditEntry.objects.filter(team=elsewhere).values_list("action", flat=True)
    assert list(actions) == ["subscription.add", "subscription.remove"]


@pytest.mark.row("P2")
def test_nobody_subscribes_to_what_they_cannot_see_or_to_themselves(elsewhere, charlie):
    Team.objects.create(slug="secret", name="Secret")
    mine = Actor(user=charlie)
    assert refusal(subscriptions.subscribe, elsewhere, "secret", mine) == "NOT_FOUND"
    assert refusal(subscriptions.subscribe, elsewhere, "elsewhere", mine) == "SUBSCRIPTION_TO_ITSELF"
    assert not Subscription.objects.exists()


@pytest.mark.row("P2")
def test_members_read_maintainers_change_and_strangers_do_neither(elsewhere, team, bob, charlie):
    stranger = Actor(user=charlie)
    assert list(subscriptions.subscriptions_of(team, Actor(user=bob))) == []
    assert refusal(subscriptions.subscriptions_of, team, stranger) == "FORBIDDEN"
    for actor in (Actor(user=bob), stranger):
        assert refusal(subscriptions.subscribe, team, "elsewhere", actor) == "FORBIDDEN"
        assert refusal(subscriptions.unsubscribe, team, "elsewhere", actor) == "FORBIDDEN"


def test_administrators_alone_bundle(published, alice, administrator):
    skill = published("public", visibility="public").skill
    assert refusal(subscriptions.set_bundled, skill, True, Actor(user=alice)) == "FORBIDDEN"
    for _ in range(2):
        subscriptions.set_bundled(skill, True, Actor(user=administrator))
    assert AuditEntry.objects.filter(action="skill.bundle").count() == 1
    subscriptions.set_bundled(skill, False, Actor(user=administrator))
    skill.refresh_from_db()
    assert not skill.is_bundled
