"""The checklist of first steps on a new site."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from portal.forms.team_choice import BUNDLED_TEAMS
from registry.identity.actors import Actor
from registry.models import Membership, Token, Version
from worker.models import Run


@dataclass(frozen=True)
class FirstStep:
    name: str
    label: str
    hint: str
    url: str
    done: bool


def first_steps(actor: Actor) -> list[FirstStep]:
    """Steps to create a team, publish or import, run, and connect an agent; empty when all are done."""
    own = Membership.objects.filter(user=actor.user).exclude(team__slug__in=BUNDLED_TEAMS)
    published = Version.objects.filter(skill__team__in=own.values("team")).exists()
    steps = [
        FirstStep(
            "team",
            _("Create your team"),
            _("Skills, runs and members belong to a team."),
            f"{reverse('team-new')}?then=publish",
            own.exists(),
        ),
        FirstStep(
            "publish",
            _("Publish or import a skill"),
            _("A zip file, a folder or a single SKILL.md is enough."),
            reverse("publish"),
            published,
        ),
        FirstStep(
            "run",
            _("Run a skill"),
            _("Open a skill and press Run."),
            reverse("catalog"),
            Run.objects.filter(caller=actor.user).exists(),
        ),
        FirstStep(
            "agent",
            _("Connect an agent"),
            _("Create an access token for your agent."),
            reverse("tokens"),
            Token.objects.filter(owner=actor.user).exists(),
        ),
    ]
    return [] if all(step.done for step in steps) else steps
