from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.models import AuditEntry, Subscription, Team
from registry.packages.problems import Refusal
from registry.subscriptions import trusted_teams

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7")]


@pytest.fixture
def elsewhere(charlie, publish_skill):
    publish_skill("public", visibility="public")
    return Team.objects.get(slug="elsewhere")


def refusal(verb, *args):
    with pytest.raises(Refusal) as caught:
        verb(*args)
    return caught.value.code


def test_a_maintainer_subscribes_once_and_takes_it_back(elsewhere, charlie):
    mine = Actor(user=charlie)
    for _ in range(2):
        trusted_teams.subscribe(elsewhere, "docs", mine)
    assert [row.publisher.slug for row in trusted_teams.list_subscriptions(elsewhere, mine)] == ["docs"]
    trusted_teams.unsubscribe(elsewhere, "docs", mine)
    assert refusal(trusted_teams.unsubscribe, elsewhere, "docs", mine) == "NOT_FOUND"
    actions = AuditEntry.objects.filter(team=elsewhere).values_list("action", flat=True)
    assert list(actions) == ["subscription.add", "subscription.remove"]


@pytest.mark.row("P2")
def test_nobody_subscribes_to_what_they_cannot_see_or_to_themselves(elsewhere, charlie):
    Team.objects.create(slug="secret", name="Secret")
    mine = Actor(user=charlie)
    assert refusal(trusted_teams.subscribe, elsewhere, "secret", mine) == "NOT_FOUND"
    assert refusal(trusted_teams.subscribe, elsewhere, "elsewhere", mine) == "SUBSCRIPTION_TO_ITSELF"
    assert not Subscription.objects.exists()


@pytest.mark.row("P2")
def test_members_read_maintainers_change_and_strangers_do_neither(elsewhere, team, bob, charlie):
    stranger = Actor(user=charlie)
    assert list(trusted_teams.list_subscriptions(team, Actor(user=bob))) == []
    assert refusal(trusted_teams.list_subscriptions, team, stranger) == "FORBIDDEN"
    for actor in (Actor(user=bob), stranger):
        assert refusal(trusted_teams.subscribe, team, "elsewhere", actor) == "FORBIDDEN"
        assert refusal(trusted_teams.unsubscribe, team, "elsewhere", actor) == "FORBIDDEN"


def test_administrators_alone_bundle(publish_skill, alice, administrator):
    skill = publish_skill("public", visibility="public").skill
    assert refusal(trusted_teams.set_bundled, skill, True, Actor(user=alice)) == "FORBIDDEN"
    for _ in range(2):
        trusted_teams.set_bundled(skill, True, Actor(user=administrator))
    assert AuditEntry.objects.filter(action="skill.bundle").count() == 1
    trusted_teams.set_bundled(skill, False, Actor(user=administrator))
    skill.refresh_from_db()
    assert not skill.is_bundled
