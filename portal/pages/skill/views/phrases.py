"""Views of trigger phrases that are stored outside the package: propose, accept and decline."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusal
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import Skill
from registry.packages.problems import Refusal
from registry.trigger_tests import phrases


def phrase_context(skill: Skill, actor: Actor) -> dict[str, Any]:
    """The part of the settings page's context that is about phrases."""
    return {
        "phrases": phrases.skill_phrases(skill, actor),
        "may_propose": phrases.is_model_configured(),
        "model_host": urlsplit(settings.SKILLQUAY_MODEL_URL).netloc,
    }


@signed_in_action
def propose(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = phrases.propose(skill, phrases.request_proposals(skill, request.actor), request.actor)
    except Refusal as refused:
        if refused.code == FORBIDDEN.name:
            raise
        show_refusal(request, refused)
    else:
        text = ngettext("%(n)s new phrase proposed.", "%(n)s new phrases proposed.", len(found))
        messages.success(request, text % {"n": len(found)})
    return _redirect_back(skill)


@signed_in_action
def decide(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    phrases.decide(skill, uid, request.actor, accept="accept" in request.POST)
    messages.success(request, _("Saved."))
    return _redirect_back(skill)


def _redirect_back(skill: Skill) -> HttpResponse:
    return redirect(reverse("skill-settings", args=[skill.team.slug, skill.slug]) + "#phrases")
