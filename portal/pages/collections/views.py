"""Views of collections: the list, one collection with commands for clients, and forms for maintainers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.catalog.presenters import facts_of
from portal.pages.collections.forms import CollectionForm, NewCollectionForm
from portal.pages.collections.presenters import client_lines, collection_title, editable_teams, member_rows
from registry.collections import edit as editing
from registry.collections.find import collections, find_collection, is_computed
from registry.collections.members import members
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.models import Team

PAGE = 50


@require_safe
def listing(request: ActorRequest) -> HttpResponse:
    """The collections that the user may see, of one team if given, and the computed ones of own teams."""
    actor, team = request.actor, request.GET.get("team", "")
    rows = collections(actor, team=team).order_by("team__slug", "slug")
    own = Team.objects.filter(pk__in=actor.team_ids).order_by("slug")
    context = {
        "page": Paginator(rows, PAGE).get_page(request.GET.get("page")),
        "own": own.filter(slug=team) if team else own,
        "team": team,
        "may_create": actor.is_signed_in and editable_teams(actor).exists(),
    }
    return render(request, "collections/list.html", context)


@require_safe
def page(request: ActorRequest, team: str, collection: str) -> HttpResponse:
    found = find_collection(team, collection, request.actor)
    rows = members(found, request.actor)
    shown = member_rows(rows)
    is_stored = not is_computed(found)
    may_edit = is_stored and may(request.actor, Action.COLLECTIONS, team=found.team)
    context: dict[str, Any] = {
        "collection": found,
        "is_stored": is_stored,
        "title": collection_title(found),
        "rows": shown,
        "facts": facts_of([row["skill"] for row in shown], (), request.actor),
        "lines": client_lines(found, rows),
        "may_edit": may_edit,
    }
    return render(request, "collections/page.html", context)


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    teams = editable_teams(request.actor)
    initial = {"team": request.GET.get("team", ""), "skills": request.GET.get("skill", "")}
    form = NewCollectionForm(request.POST or None, teams=teams, initial=initial)
    if form.is_valid():
        with add_refusals(form):
            team, slug = form.cleaned_data["team"], form.cleaned_data["slug"]
            made = editing.create(team, slug, request.actor, **form.options)
            return redirect("collection", made.team.slug, made.slug)
    context = {"form": form, "has_team": teams.exists()}
    return render(request, "collections/new.html", context, status=422 if form.is_bound else 200)


@signed_in_form
def edit(request: ActorRequest, team: str, collection: str) -> HttpResponse:
    found = find_collection(team, collection, request.actor)
    require(request.actor, Action.COLLECTIONS, team=found.team)
    form = CollectionForm(request.POST) if request.POST else CollectionForm.of(found, request.actor)
    if form.is_valid():
        with add_refusals(form):
            editing.change(found, request.actor, **form.options)
            messages.success(request, _("Saved."))
            return redirect("collection", team, collection)
    context = {"collection": found, "form": form}
    return render(request, "collections/edit.html", context, status=422 if form.is_bound else 200)


@signed_in_action
def delete(request: ActorRequest, team: str, collection: str) -> HttpResponse:
    found = find_collection(team, collection, request.actor)
    with show_refusals(request):
        editing.delete(found, request.actor)
        messages.success(request, _("The collection %(name)s was deleted.") % {"name": str(found)})
        return redirect("collections")
    return redirect("collection", team, collection)
