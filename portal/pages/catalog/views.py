"""The catalog: search, filters in the URL, and counts of the visible skills."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.pages.catalog.forms import CatalogQuery, read_query
from portal.pages.catalog.pagination import SkillsByScore
from portal.pages.catalog.presenters import corrected_query, facts_of
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.models import Skill
from registry.rates.limits import RateLimit, count_request
from registry.search.facets import MAX_COUNTED_SKILLS, FacetValue, facets
from registry.search.query import SearchResult, search

PAGE = 20
MAX_HITS = 200  # of a search; beyond that, other words help more
VALUES_SHOWN = 30  # per filter
VALUES_AT_FIRST = 6  # shown at first; the others on request
TITLES: dict[str, Promise | str] = {
    "team": _("Team"),
    "type": _("Type"),
    "category": _("Category"),
    "domain": _("Domain"),
    "tag": _("Tag"),
    "source": _("Source"),
    "profile": _("Profile"),
}


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    query = read_query(request.GET)
    if query.q:
        count_request(request, request.actor, RateLimit.SEARCH)
    found = search(query.q, request.actor, limit=MAX_HITS, filters=query.filters, counted=MAX_COUNTED_SKILLS)
    skills = _search_results(query, found) if query.q else _browse(query, request.actor)
    page_of_skills = Paginator(skills, PAGE).get_page(request.GET.get("page"))
    context = {
        "query": query,
        "page": page_of_skills,
        "facts": facts_of(page_of_skills.object_list, found.hits, request.actor),
        "facets": _facets(query, found, request.actor),
        "chosen": [(name, TITLES[name], value) for name, value in query.chosen],
        "corrected": corrected_query(found),
        "total": found.total,
    }
    return render(request, "catalog/catalog.html", context)


def _browse(query: CatalogQuery, actor: Actor) -> Sequence[Skill] | QuerySet[Skill]:
    seen = Skill.objects.discoverable_by(actor).filter(latest__isnull=False)
    rows = seen.select_related("team", "latest").defer("latest__manifest", "latest__body")
    skills = query.filters.narrow(rows)
    return skills.order_by("-latest__created_at", "-pk") if query.sort == "newest" else SkillsByScore(skills)


def _search_results(query: CatalogQuery, found: SearchResult) -> list[Skill]:
    skills = [hit.skill for hit in found.hits]
    if query.sort == "newest":
        skills.sort(
            key=lambda skill: skill.latest.created_at if skill.latest else skill.created_at, reverse=True
        )
    return skills


def _facets(query: CatalogQuery, found: SearchResult, actor: Actor) -> list[dict[str, Any]]:
    """Each filter with its values and their counts under the other filters; without empty filters."""
    counts = facets(query.q, query.filters, actor, limit=VALUES_SHOWN, found=found)
    rows = []
    for name, title in TITLES.items():
        if choices := _choices(getattr(query.filters, name), counts[name]):
            first, rest = choices[:VALUES_AT_FIRST], choices[VALUES_AT_FIRST:]
            rows.append({"name": name, "title": title, "first": first, "rest": rest})
    return rows


def _choices(chosen: str, counts: Sequence[FacetValue]) -> list[dict[str, Any]]:
    """The values of a filter: the chosen one first (a click removes it), then the others by count."""
    rest = [{"value": each.value, "count": each.count} for each in counts if each.value != chosen]
    count = next((each.count for each in counts if each.value == chosen), 0)
    return [{"value": chosen, "count": count, "chosen": True}, *rest] if chosen else rest
