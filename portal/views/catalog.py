"""The catalog: search, filters in the address, and counts of what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.forms.catalog import CatalogQuery, read_query
from portal.showing.catalog_rows import corrected, facts_of
from portal.showing.ranking import ByScore
from registry.actors import Actor
from registry.facets import MOST_COUNTED, Value, facets
from registry.middleware import ActorRequest
from registry.models import Skill
from registry.search import Search, search

PAGE = 20
MOST_HITS = 200  # of a search: who needs more needs other words
VALUES_SHOWN = 30  # of a filter …
VALUES_AT_ONCE = 6  # … the others when asked for
TITLES: dict[str, Promise | str] = {
    "team": _("Team"),
    "type": _("Type"),
    "category": _("Category"),
    "domain": _("Domain"),
    "tag": _("Tag"),
    "source": _("Source"),
    "profile": _("Profile"),
}


@dataclass(frozen=True)
class Choice:
    """One line of a filter: choosing it again takes it away."""

    value: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Facet:
    name: str
    title: Promise | str
    choices: Sequence[Choice]

    @property
    def first(self) -> Sequence[Choice]:
        return self.choices[:VALUES_AT_ONCE]

    @property
    def rest(self) -> Sequence[Choice]:
        return self.choices[VALUES_AT_ONCE:]


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    query = read_query(request.GET)
    found = search(query.q, request.actor, limit=MOST_HITS, filters=query.filters, counted=MOST_COUNTED)
    skills = _found(query, found) if query.q else _browsed(query, request.actor)
    shown = Paginator(skills, PAGE).get_page(request.GET.get("page"))
    context = {
        "query": query,
        "page": shown,
        "facts": facts_of(shown.object_list, found.hits, request.actor),
        "facets": _facets(query, found, request.actor),
        "chosen": [(name, TITLES[name], value) for name, value in query.chosen],
        "corrected": corrected(found),
        "total": found.total,
    }
    return render(request, "skills/catalog.html", context)


def _browsed(query: CatalogQuery, actor: Actor) -> Sequence[Skill] | QuerySet[Skill]:
    seen = Skill.objects.offered_to(actor).filter(latest__isnull=False)
    rows = seen.select_related("team", "latest").defer("latest__manifest", "latest__body")
    skills = query.filters.narrow(rows)
    return skills.order_by("-latest__created_at", "-pk") if query.sort == "newest" else ByScore(skills)


def _found(query: CatalogQuery, found: Search) -> list[Skill]:
    skills = [hit.skill for hit in found.hits]
    if query.sort == "newest":
        skills.sort(
            key=lambda skill: skill.latest.created_at if skill.latest else skill.created_at, reverse=True
        )
    return skills


def _facets(query: CatalogQuery, found: Search, actor: Actor) -> list[Facet]:
    """Each filter's counts, with the other filters applied but not its own; none that say nothing."""
    counts = facets(query.q, query.filters, actor, most=VALUES_SHOWN, found=found)
    every = (
        Facet(name, title, _choices(getattr(query.filters, name), counts[name]))
        for name, title in TITLES.items()
    )
    return [facet for facet in every if facet.choices]


def _choices(chosen: str, counts: Sequence[Value]) -> list[Choice]:
    """The chosen one first, then the commonest."""
    rest = [Choice(each.value, each.count, False) for each in counts if each.value != chosen]
    count = next((each.count for each in counts if each.value == chosen), 0)
    return [Choice(chosen, count, True), *rest] if chosen else rest
