import pytest

from registry.identity.actors import Actor
from registry.matching import match as matching
from registry.matching.match import MatchQuery


@pytest.fixture
def ask(alice):
    def do(utterance="", *, actor=None, limit=20, **more):
        return matching.match(MatchQuery(utterance, **more), actor or Actor(user=alice), limit=limit)

    return do


@pytest.fixture
def slugs(ask):
    return lambda *args, **more: [row.skill.slug for row in ask(*args, **more).rows]
