"""Views of the agent listing: preview, team subscriptions and bundled skills."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.forms.suggestions import suggest, visible_skills
from portal.pages.listing.forms import BundleForm, ListingForm, TeamSubscriptionForm
from portal.pages.listing.presenters import STAGES, listed_rows, omitted_rows
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, in_scope
from registry.listing import formats
from registry.listing.list_skills import list_skills
from registry.lookup.skills import find_skill, find_team
from registry.models import Skill
from registry.subscriptions import trusted_teams

_MAX_ROWS = 50  # rows of each table


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    form = ListingForm(request.GET or {"context_tokens": 200_000, "format": "lines"})
    context: dict[str, Any] = {"form": form, **_bundle_context(request)}
    if form.is_valid():
        context |= _listing_context(form.cleaned_data, request)
    return render(request, "listing/listing.html", context, status=200 if form.is_valid() else 422)


@signed_in_action
def subscribe(request: ActorRequest, slug: str) -> HttpResponse:
    """Subscribes the team to another team, or unsubscribes it from the team in the field ``remove``."""
    team = find_team(slug, request.actor)
    form = TeamSubscriptionForm(request.POST)
    with show_refusals(request):
        if removed := request.POST.get("remove"):
            trusted_teams.unsubscribe(team, removed, request.actor)
            messages.success(request, _("Unsubscribed from %(name)s.") % {"name": removed})
        elif form.is_valid():
            done = trusted_teams.subscribe(team, form.cleaned_data["team"], request.actor)
            text = _("Subscribed to %(name)s. Its skills now appear in the agent listing.") % {
                "name": done.publisher.slug
            }
            messages.success(request, text)
        else:
            messages.error(request, _("Enter a team."))
    return redirect("team-settings", slug)


@signed_in_action
def bundle(request: ActorRequest) -> HttpResponse:
    """Bundles the skill in the field ``skill``, or unbundles the skill in the field ``remove``."""
    removed = request.POST.get("remove")
    with show_refusals(request):
        skill = find_skill(removed or request.POST.get("skill", ""), request.actor)
        trusted_teams.set_bundled(skill, not removed, request.actor)
        messages.success(request, _("Saved."))
    return redirect("listing")


def _listing_context(given: dict[str, Any], request: ActorRequest) -> dict[str, Any]:
    form = given["format"]
    limit = given["limit"] or (formats.SECTION_LIMIT if form == "section" else None)
    found = list_skills(
        request.actor, context_tokens=given["context_tokens"], paths=given["paths"], limit=limit
    )
    listed, omitted = listed_rows(found), omitted_rows(found)
    return {
        "found": found,
        "text": formats.render(found, form),
        "stage": STAGES[found.stage],
        "listed_rows": listed[:_MAX_ROWS],
        "listed_count": len(listed),
        "hidden_rows": max(0, len(listed) - _MAX_ROWS),
        "omitted_rows": omitted[:_MAX_ROWS],
        "omitted": sum(found.counts.values()),
    }


def _bundle_context(request: ActorRequest) -> dict[str, Any]:
    """The bundled skills and the form to bundle a skill; {} unless the actor may bundle skills."""
    actor = request.actor
    if not (actor.is_administrator and in_scope(actor, Action.SET_CANONICAL)):
        return {}
    rows = Skill.objects.visible_to(actor).filter(is_bundled=True).select_related("team")
    form = BundleForm(auto_id="bundle-%s")
    suggest(form, "skill", visible_skills(actor))
    return {"bundled": rows.order_by("team__slug", "slug"), "bundle_form": form}
