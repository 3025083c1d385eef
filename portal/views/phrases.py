"""Phrases beside a skill's package: have them proposed, accept or decline them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from portal.forms.refusals import say
from registry import phrases
from registry.actors import Actor
from registry.catalog import find_skill
from registry.middleware import ActorRequest
from registry.models import Skill
from registry.packages.problems import Refused


def shown_phrases(skill: Skill, actor: Actor) -> dict[str, Any]:
    """What the settings page says of them."""
    return {
        "phrases": phrases.of_skill(skill, actor),
        "may_propose": phrases.is_model_named(),
        "model_host": urlsplit(settings.SKILLQUAY_MODEL_URL).netloc,
    }


@require_POST
@login_required
def propose(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = phrases.propose(skill, phrases.ask(skill, request.actor), request.actor)
    except Refused as refused:
        if refused.code == "FORBIDDEN":
            raise
        say(request, refused)
    else:
        said = ngettext("%(n)s new phrase is proposed.", "%(n)s new phrases are proposed.", len(found))
        messages.success(request, said % {"n": len(found)})
    return _back(skill)


@require_POST
@login_required
def decide(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    phrases.decide(skill, uid, request.actor, accept="accept" in request.POST)
    messages.success(request, _("Saved."))
    return _back(skill)


def _back(skill: Skill) -> HttpResponse:
    return redirect(reverse("skill-settings", args=[skill.team.slug, skill.slug]) + "#phrases")
