"""What an agent would be told of its skills: for which context, in which form, who is cut and why."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal.forms.listing import BundleForm, ListingForm, SubscriptionForm
from portal.forms.refusals import say
from portal.showing.listing import STAGES, missing, shown
from registry import subscriptions
from registry.catalog import find_skill, find_team
from registry.listing import formats, list_skills
from registry.middleware import ActorRequest
from registry.models import Skill
from registry.packages.problems import Refused
from registry.permissions import Action, in_scope


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    form = ListingForm(request.GET or {"context_tokens": 200_000, "form": "lines"})
    context: dict[str, Any] = {"form": form, "section": "skills", **_bundled(request)}
    if form.is_valid():
        context |= _found(form.cleaned_data, request)
    return render(request, "listing/listing.html", context, status=200 if form.is_valid() else 422)


@require_POST
@login_required
def subscribe(request: ActorRequest, slug: str) -> HttpResponse:
    """Adds the team that was named, or takes back the one whose button was pressed."""
    team = find_team(slug, request.actor)
    form = SubscriptionForm(request.POST)
    try:
        if gone := request.POST.get("remove"):
            subscriptions.unsubscribe(team, gone, request.actor)
            messages.success(request, _("%(name)s is no longer subscribed to.") % {"name": gone})
        elif form.is_valid():
            done = subscriptions.subscribe(team, form.cleaned_data["team"], request.actor)
            said = _("The skills of %(name)s are offered from now on.") % {"name": done.publisher.slug}
            messages.success(request, said)
        else:
            messages.error(request, _("Name a team."))
    except Refused as refused:
        say(request, refused)
    return redirect("team", slug)


@require_POST
@login_required
def bundle(request: ActorRequest) -> HttpResponse:
    """Bundles the skill that was named, or takes back the one whose button was pressed."""
    gone = request.POST.get("remove")
    try:
        skill = find_skill(gone or request.POST.get("skill", ""), request.actor)
        subscriptions.set_bundled(skill, not gone, request.actor)
        messages.success(request, _("Saved."))
    except Refused as refused:
        say(request, refused)
    return redirect("listing")


def _found(given: dict[str, Any], request: ActorRequest) -> dict[str, Any]:
    form = given["form"]
    limit = given["limit"] or (formats.SECTION_LIMIT if form == "section" else None)
    found = list_skills(
        request.actor, context_tokens=given["context_tokens"], paths=given["paths"], limit=limit
    )
    return {
        "found": found,
        "text": formats.text(found, form),
        "stage": STAGES[found.stage],
        "shown": shown(found),
        "missing": missing(found),
        "left_out": sum(found.counts.values()),
    }


def _bundled(request: ActorRequest) -> dict[str, Any]:
    """For administrators: what is bundled, and the form to bundle more."""
    actor = request.actor
    if not (actor.is_administrator and in_scope(actor, Action.SET_CANONICAL)):
        return {}
    rows = Skill.objects.visible_to(actor).filter(is_bundled=True).select_related("team")
    return {"bundled": rows.order_by("team__slug", "slug"), "bundle_form": BundleForm(auto_id="bundle-%s")}
