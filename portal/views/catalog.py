"""The catalog: search, filters in the address, and counts of what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.forms.catalog import CatalogQuery, read_query
from portal.showing.ranking import ByScore
from registry.actors import Actor
from registry.facets import Value, facets
from registry.middleware import ActorRequest
from registry.models import Skill
from registry.search import search

PAGE = 20
MOST_HITS = 200  # of a search: who needs more needs other words
VALUES_SHOWN = 15  # of a filter


@dataclass(frozen=True)
class Choice:
    """One line of a filter: choosing it again takes it away."""

    value: str
    count: int
    chosen: bool


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    query = read_query(request.GET)
    found = _searched(query, request.actor) if query.q else _browsed(query, request.actor)
    context = {"query": query, "facets": _facets(query, request.actor), "most_hits": MOST_HITS}
    context["page"] = Paginator(found, PAGE).get_page(request.GET.get("page"))
    return render(request, "skills/catalog.html", context)


def _shown(actor: Actor) -> QuerySet[Skill]:
    skills = Skill.objects.visible_to(actor).filter(latest__isnull=False)
    return skills.select_related("team", "latest").defer("latest__manifest", "latest__body")


def _browsed(query: CatalogQuery, actor: Actor) -> Sequence[Skill] | QuerySet[Skill]:
    skills = query.filters.narrow(_shown(actor))
    return skills.order_by("-latest__created_at", "-pk") if query.sort == "newest" else ByScore(skills)


def _searched(query: CatalogQuery, actor: Actor) -> list[Skill]:
    hits = search(query.q, actor, limit=MOST_HITS, filters=query.filters).hits
    skills = [hit.skill for hit in hits]
    if query.sort == "newest":
        skills.sort(
            key=lambda skill: skill.latest.created_at if skill.latest else skill.created_at, reverse=True
        )
    return skills


def _facets(query: CatalogQuery, actor: Actor) -> dict[str, list[Choice]]:
    """Each filter's counts, with the other filters applied but not its own."""
    counts = facets(query.q, query.filters, actor, most=VALUES_SHOWN)
    return {name: _choices(getattr(query, name), counts[name]) for name in ("type", "tag", "team")}


def _choices(chosen: str, counts: Sequence[Value]) -> list[Choice]:
    """The chosen one first, then the commonest."""
    rest = [Choice(each.value, each.count, False) for each in counts if each.value != chosen]
    count = next((each.count for each in counts if each.value == chosen), 0)
    return [Choice(chosen, count, True), *rest] if chosen else rest
