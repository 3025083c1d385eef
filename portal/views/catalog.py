"""The catalog: search, filters in the address, and counts of what the reader may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.forms.catalog import CatalogQuery, read_query
from portal.showing.ranking import ByScore
from registry.actors import Actor
from registry.middleware import ActorRequest
from registry.models import Skill
from registry.search import Filters, search

PAGE = 20
MOST_HITS = 200  # of a search: who needs more needs other words
TAGS_SHOWN = 15


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
    answering = None
    if query.q:
        hits = search(query.q, actor, limit=MOST_HITS, filters=Filters(for_people=True)).hits
        answering = Q(pk__in=[hit.skill.pk for hit in hits])
    skills = Skill.objects.visible_to(actor).filter(answering or Q(), latest__isnull=False).order_by()

    def counted(lookup: str, own: str) -> Counter[str]:
        narrowed = skills.filter(pk__in=replace(query, **{own: ""}).filters.narrow(skills))
        rows = narrowed.values_list(lookup).annotate(Count("pk", distinct=True))
        return Counter({value: count for value, count in rows if value})

    return {
        "type": _choices(query.type, counted("type", "type")),
        "tag": _choices(query.tag, counted("tag_rows__text", "tag"))[:TAGS_SHOWN],
        "team": _choices(query.team, counted("team__slug", "team")),
    }


def _choices(chosen: str, counts: Counter[str]) -> list[Choice]:
    """The chosen one first, then the commonest."""
    if chosen:
        counts.setdefault(chosen, 0)
    ranked = sorted(counts.items(), key=lambda row: (row[0] != chosen, -row[1], row[0]))
    return [Choice(value, count, value == chosen) for value, count in ranked]
