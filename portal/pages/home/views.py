"""The home page: open tasks, active runs, failures, team activity and pinned skills."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action
from portal.pages.catalog.presenters import facts_of
from portal.pages.home.presenters.activity import activity_of
from portal.pages.home.presenters.checklist import first_steps
from portal.pages.home.presenters.needs import needs_of
from portal.pages.home.presenters.runs import failures_by_skill, running_now
from registry.core.sql import Reads, read_together
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.models import Skill, User
from registry.pins.pins import is_pinned, list_pinned_skills, pin, unpin
from registry.usage.scores import load_listed, most_used_keys

PUBLIC_SHOWN = 8


@require_safe
@never_cache
def page(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    if actor.user is None:
        return _signed_out(request)
    steps, needs, running, failures, activity, (pinned, facts) = read_together(
        first_steps.reads(actor),
        needs_of.reads(actor),
        running_now.reads(actor),
        failures_by_skill.reads(actor),
        activity_of.reads(actor),
        _pinned(actor),
    )
    context: dict[str, Any] = {
        "steps": steps,
        "needs": needs,
        "running": running,
        "failures": failures,
        "activity": activity,
        "pinned": pinned,
        "facts": facts,
    }
    shown = (context["needs"].rows, context["running"].rows, context["failures"], context["activity"], pinned)
    context["is_new"] = bool(context["steps"]) and not any(shown)
    return render(request, "home/home.html", context)


def _pinned(actor: Actor) -> Reads[tuple[list[Skill], dict[int, dict[str, Any]]]]:
    pinned = yield from list_pinned_skills.reads(actor)
    return pinned, (yield from facts_of.reads(pinned, (), actor))


def _signed_out(request: ActorRequest) -> HttpResponse:
    """The page for anonymous users: an introduction, and public skills, the most used ones first."""
    skills = Skill.objects.searchable_by(request.actor).filter(for_people=True)
    keys = most_used_keys(skills, PUBLIC_SHOWN)
    newest = skills.exclude(pk__in=keys).order_by("-pk").values_list("pk", flat=True)
    keys += newest[: PUBLIC_SHOWN - len(keys)]
    return render(request, "home/signed_out.html", {"skills": load_listed(keys)})


@signed_in_action
def change_pin(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Pins the skill to the user's home page, or unpins it."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    assert isinstance(request.actor.user, User)
    (unpin if is_pinned(request.actor, skill) else pin)(request.actor.user, skill)
    return redirect("skill", skill.team.slug, skill.slug)
