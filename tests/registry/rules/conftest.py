from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Team


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def others(charlie, publish_skill):
    """``others(…)``: a version of Charlie's team that everybody on the site may see."""
    away = Team.objects.get(slug="elsewhere")

    def make(slug="report", **more):
        return publish_skill(slug, into=away, by=Actor(user=charlie), visibility="public", **more)

    return make


@pytest.fixture
def token_of():
    """``token_of(user)``: an access token of theirs and the actor that it makes."""

    def make(user, team=None):
        ends = timezone.now() + timedelta(days=1)
        _token, secret = tokens.issue(
            user, name="agent", scopes=["read", "run"], expires_at=ends, by=Actor(user=user), team=team
        )
        return tokens.actor_of(secret)

    return make
