"""Agents whose runs need an approval, and the decision about a run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Version
from registry.packages.problems import Refusal
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.models import Run
from worker.protocols.call import Request
from worker.runs.request import request_run

TOOLS = "allowed-tools: [Bash]\n"


@pytest.fixture
def agent_of(team):
    """``agent_of(user)``: the actor of a token of theirs for the team."""

    def make(user, into=team):
        token, _secret = tokens.issue(
            user,
            name="night agent",
            scopes=["run", "read"],
            expires_at=timezone.now() + timedelta(days=1),
            by=Actor(user=user),
            team=into,
        )
        return Actor(user=user, token=token, scopes=frozenset(token.scopes))

    return make


@pytest.fixture
def asks(publish_skill, agent_of, bob):
    """``asks(version)``: a run that Bob's agent asks for; by default of a skill that wants a tool."""
    agent = agent_of(bob)

    def make(version=None, actor=agent, inputs=None, **more):
        version = version or Version.objects.filter(skill__slug="hello").first() or publish_skill(front=TOOLS)
        return request_run(actor=actor, version=version, request=Request(inputs=inputs or {}), **more)

    return make


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


def fresh(run):
    return Run.objects.select_related("approval", "team").get(pk=run.pk)


def decide(run, choice, actor, **more):
    return deciding.decide(requests.find(run.uid, actor), choice, actor, **more)


def code(call, *args, **named):
    with pytest.raises(Refusal) as refused:
        call(*args, **named)
    return refused.value.code
