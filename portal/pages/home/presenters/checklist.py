"""The checklist of first steps on a new site."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.forms.team_choice import BUNDLED_TEAMS
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Membership, Token, User, Version
from worker.models import Run


@dataclass(frozen=True)
class FirstStep:
    name: str
    label: str
    hint: str
    url: str
    done: bool


@reader
def first_steps(actor: Actor) -> Reads[list[FirstStep]]:
    """Steps to create a team, publish or import, run, and connect an agent; empty when all are done."""
    own = Membership.objects.filter(user=actor.user).exclude(team__slug__in=BUNDLED_TEAMS)
    done = User.objects.filter(pk=actor.user.pk if actor.user else 0).values_list(
        Exists(own),
        Exists(Version.objects.filter(skill__team__in=own.values("team"))),
        Exists(Run.objects.filter(caller=actor.user)),
        Exists(Token.objects.filter(owner=actor.user)),
    )
    yield done
    has_team, has_published, has_run, has_token = next(iter(done), (False,) * 4)
    steps = [
        FirstStep(
            "team",
            _("Create your team"),
            _("Skills, runs and members belong to a team."),
            f"{reverse('team-new')}?then=publish",
            has_team,
        ),
        FirstStep(
            "publish",
            _("Publish or import a skill"),
            _("A zip file, a folder or a single SKILL.md is enough."),
            reverse("publish"),
            has_published,
        ),
        FirstStep(
            "run",
            _("Run a skill"),
            _("Open a skill and press Run."),
            reverse("catalog"),
            has_run,
        ),
        FirstStep(
            "agent",
            _("Connect an agent"),
            _("Create an access token for your agent."),
            reverse("tokens"),
            has_token,
        ),
    ]
    return [] if all(step.done for step in steps) else steps
