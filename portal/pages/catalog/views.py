"""The catalog: search, filters in the URL, and counts of the visible skills."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from portal.context import navigation_counts
from portal.pages.catalog.forms import CatalogQuery, read_query
from portal.pages.catalog.pagination import NewestSkills, SkillsByScore
from portal.pages.catalog.presenters import (
    MatcherAnswer,
    ask_matcher,
    best_match,
    corrected_query,
    facts_of,
    load_with_facts,
    needs_matcher,
)
from portal.presenters.skill.kind import KINDS
from portal.templatetags.skillquay_fragments import Deferred
from registry.changes import drafts
from registry.core.sql import read, read_together
from registry.identity.middleware import ActorRequest
from registry.matching.sentences import is_sentence
from registry.models import Skill
from registry.rates.limits import RateLimit, count_request
from registry.search.facets import MAX_COUNTED_SKILLS, Facets, FacetValue, facets
from registry.search.query import SearchResult, search

PAGE = 20
MAX_HITS = 200  # maximum number of hits listed
VALUES_SHOWN = 12  # maximum number of values per filter
VALUES_AT_FIRST = 6  # number of values shown at first; the others on request
TITLES: dict[str, Promise | str] = {
    "kind": _("Kind"),
    "team": _("Team"),
    "tag": _("Tag"),
    "language": _("Language"),
    "category": _("Category"),
    "domain": _("Domain"),
    "type": _("Type"),
    "source": _("Source"),
    "profile": _("Package profile"),
}
FIRST = ("kind", "team", "tag", "language")  # the other filters are below "More filters"
LABELS: dict[str, Mapping[str, Promise | str]] = {
    "kind": {name: kind.label for name, kind in KINDS.items()} | {"script": _("Runs a script")},
    "language": {"zh": _("Chinese"), "en": _("English or other")},
}


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    query = read_query(request.GET)
    if query.q:
        count_request(request, request.actor, RateLimit.SEARCH)
        shown, facet_counts = _search(request, query)
    else:
        drafts.keep_page()
        drafts.depend_on_catalog()
        shown, facet_counts = _browse(request, query)
    context = shown | {
        "query": query,
        "filters": _filters(query, facet_counts, request.GET.urlencode()),
        "chosen": [(name, TITLES[name], value, _label(name, value)) for name, value in query.chosen],
    }
    return render(request, "catalog/catalog.html", context)


def _browse(request: ActorRequest, query: CatalogQuery) -> tuple[dict[str, Any], Facets]:
    """The context of the catalog without a search and the counts of its filters."""
    actor = request.actor
    order = (NewestSkills if query.sort == "newest" else SkillsByScore)(actor, query.filters)
    _loaded, facet_counts, counts = read_together(
        order.load(),
        facets.reads("", query.filters, actor, limit=VALUES_SHOWN, names=(*TITLES,)),
        navigation_counts.reads(actor),
    )
    places = Paginator(range(order.length), PAGE).get_page(request.GET.get("page"))
    keys = order.keys(max(places.start_index() - 1, 0), places.end_index())
    listed, facts = load_with_facts(keys, actor)
    shown = {
        "page": places,
        "listed": listed,
        "facts": facts,
        "others": order.length,
        "answer": MatcherAnswer(),
    }
    return counts | shown, facet_counts


def _search(request: ActorRequest, query: CatalogQuery) -> tuple[dict[str, Any], Facets]:
    """The context of the catalog for a search, and the counts of the filters."""
    found, answer = _answers(request, query)
    skills = _search_results(query, found)
    page_of_skills = Paginator(skills, PAGE).get_page(request.GET.get("page"))
    if answer is None:
        is_asked = page_of_skills.number == 1 and needs_matcher(query, found)
        answer = ask_matcher(query, request.actor) if is_asked else MatcherAnswer()
        if is_asked:
            count_request(request, request.actor, RateLimit.MATCH)
    best = answer.found.rows[0].skill if answer.found else None
    listed = [skill for skill in page_of_skills.object_list if skill != best]
    repeated = best is not None and best in skills  # the best match stands above the other hits
    shown = {row.skill.pk: row.skill for row in answer.matches} | {skill.pk: skill for skill in listed}
    facet_counts, facts, row, counts = read_together(
        facets.reads(
            query.q, query.filters, request.actor, limit=VALUES_SHOWN, found=found, names=(*TITLES,)
        ),
        facts_of.reads(shown.values(), [*answer.matches, *found.hits], request.actor, query.q),
        best_match.reads(answer, request.actor),
        navigation_counts.reads(request.actor),
    )
    context = counts | {
        "page": page_of_skills,
        "listed": listed,
        "answer": answer,
        "best": row,
        "others": page_of_skills.paginator.count - repeated,
        "other_total": found.total - repeated,
        "facts": facts,
        "corrected": corrected_query(found),
        "total": found.total,
    }
    return context, facet_counts


def _answers(request: ActorRequest, query: CatalogQuery) -> tuple[SearchResult, MatcherAnswer | None]:
    """The results of the search and, for the first page of a sentence, the matcher's answer."""
    actor = request.actor
    reads = search.reads(query.q, actor, limit=MAX_HITS, filters=query.filters, counted=MAX_COUNTED_SKILLS)
    if not (is_sentence(query.q) and request.GET.get("page", "1") == "1"):
        return read(reads), None
    count_request(request, actor, RateLimit.MATCH)
    found, answer = read_together(reads, ask_matcher.reads(query, actor))
    return found, answer


def _search_results(query: CatalogQuery, found: SearchResult) -> list[Skill]:
    skills = [hit.skill for hit in found.hits]
    if query.sort == "newest":
        skills.sort(
            key=lambda skill: skill.latest.created_at if skill.latest else skill.created_at, reverse=True
        )
    return skills


def _filters(query: CatalogQuery, counts: Facets, query_string: str) -> Deferred | None:
    """The context of the filters; None if no filter of ``FIRST`` has a value."""
    if not any(counts[name] or getattr(query.filters, name) for name in FIRST):
        return None
    make = partial(_filter_values, query, counts, query_string)
    return Deferred(repr((query.filters, query.chosen, counts, query_string)), make)


def _filter_values(query: CatalogQuery, counts: Facets, query_string: str) -> dict[str, Any]:
    rows = _facets(query, counts)
    return {
        "facets": [row for row in rows if row["name"] in FIRST],
        "more_facets": [row for row in rows if row["name"] not in FIRST],
        "is_more_chosen": any(name not in FIRST for name, _value in query.chosen),
        "chosen_count": len(query.chosen),
        "query_string": query_string,
    }


def _facets(query: CatalogQuery, counts: Facets) -> list[dict[str, Any]]:
    """Each filter with its values and their counts under the other filters. Omits filters without values."""
    rows = []
    for name, title in TITLES.items():
        if choices := _choices(name, getattr(query.filters, name), counts[name]):
            first, rest = choices[:VALUES_AT_FIRST], choices[VALUES_AT_FIRST:]
            rows.append({"name": name, "title": title, "first": first, "rest": rest})
    return rows


def _choices(name: str, chosen: str, counts: Sequence[FacetValue]) -> list[dict[str, Any]]:
    """The values of a filter: the chosen one first (a click removes it), then the others by count."""
    number = {each.value: each.count for each in counts}
    values = [chosen, *(value for value in number if value != chosen)] if chosen else list(number)
    return [
        {
            "value": value,
            "label": _label(name, value),
            "count": number.get(value, 0),
            "chosen": value == chosen,
        }
        for value in values
    ]


def _label(name: str, value: str) -> Promise | str:
    return LABELS.get(name, {}).get(value, value)
