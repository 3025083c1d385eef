"""What Python decides about one row is what the querysets of lists decide."""

from __future__ import annotations

import itertools

import pytest
from django.utils import timezone

from registry.api.documents.skills import channels_of
from registry.identity.actors import ANONYMOUS, Actor
from registry.lookup.visibility import is_resolvable, is_visible
from registry.models import Channel, Skill, Token, Version, Visibility

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def actors(alice, bob, charlie, administrator):
    """Everyone who may differ: with and without a role, and administrators with a token of another team."""
    people = [Actor(user=user) for user in (alice, bob, charlie, administrator)]
    other = Actor(user=administrator, token=Token(owner=administrator, team_id=2**31))
    return [ANONYMOUS, *people, other, Actor(is_shell=True)]


@pytest.mark.parametrize("held", ["none", "one of two", "every version"])
def test_rows_by_address_are_visible_as_in_lists(publish_skill, actors, held):
    first, second = publish_skill(version="1.0.0"), publish_skill(version="1.1.0")
    Channel.objects.create(skill=first.skill, name="stable", version=first)
    held_pks = {"none": [], "one of two": [first.pk], "every version": [first.pk, second.pk]}[held]
    Version.objects.filter(pk__in=held_pks).update(held_at=timezone.now())
    latest = None if held == "every version" else second
    for visibility, type_ in itertools.product(Visibility, ["", "internal"]):
        Skill.objects.update(visibility=visibility, type=type_, latest=latest)
        skill = Skill.objects.get()
        versions = skill.versions.select_related("skill")
        for actor in actors:
            assert is_resolvable(skill, actor) is Skill.objects.resolvable_by(actor).exists()
            visible = {version for version in versions if is_visible(version, actor)}
            assert visible == set(Version.objects.visible_to(actor))
            if visible:
                assert channels_of(skill, actor) == ({"stable": "1.0.0"} if first in visible else {})
