"""Counts facets: the number of visible skills for each filter value."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count

from registry.identity.actors import Actor
from registry.models import Skill, Tag, Team
from registry.models.skill import visible_scopes
from registry.search import sql
from registry.search.kinds import KIND_FILTERS, kind_name
from registry.search.query import FACETS, Filters, SearchResult, matching_skill_ids

MAX_COUNTED_SKILLS = 1000  # with a text, only the best matches are counted
MAX_FACET_VALUES = 50  # values per facet, the most common ones


@dataclass(frozen=True)
class FacetValue:
    value: str
    count: int


_Row = tuple[Any, ...]  # values, and the number of skills with them
_COLUMN_FACETS = (
    "type",
    "category",
    "domain",
    "source",
    "profile",
)  # single-valued columns of a skill
Facets = dict[str, tuple[FacetValue, ...]]


def facets(
    text: str,
    filters: Filters,
    actor: Actor,
    *,
    limit: int = MAX_FACET_VALUES,
    found: SearchResult | None = None,
) -> Facets:
    """At most ``limit`` values of each facet with their counts, most common first. A facet's own filter
    does not apply to its counts. With a text, only the best ``MAX_COUNTED_SKILLS`` matches are counted;
    without one, all visible skills.

    ``found`` is the result of a search with the same text and filters, and with ``MAX_COUNTED_SKILLS`` ids
    for counting. Passing it saves another search.
    """
    filtered = [name for name in FACETS if getattr(filters, name)]
    unfiltered = [name for name in FACETS if name not in filtered]
    counted = _count(text, filters, actor, unfiltered, found.counted if found else None)
    for name in filtered:
        counted |= _count(text, filters.without(name), actor, [name])
    return {name: _most_common(counted[name], limit) for name in FACETS}


def kind_counts(
    text: str, filters: Filters, actor: Actor, *, found: SearchResult | None = None
) -> dict[str, int]:
    """The number of visible skills of each kind that match the text and the other filters. With a text,
    only the best ``MAX_COUNTED_SKILLS`` matches are counted. ``found`` is the same as for ``facets``.
    """
    others = filters.without("kind")
    if text.strip():
        keys = found.counted if found and others == filters else None
        if keys is None:
            keys = matching_skill_ids(text, actor, others, limit=MAX_COUNTED_SKILLS)
        rows: Iterable[_Row] = sql.facet_rows(keys, ("type", "abilities"))
    else:
        skills = others.narrow(Skill.objects.searchable_by(actor)).order_by()
        rows = skills.values_list("type", "abilities").annotate(Count("pk"))
    counts = dict.fromkeys(KIND_FILTERS, 0)
    for type_, abilities, count in rows:
        counts[kind_name(type_, abilities)] += count
    return counts


def facets_document(found: Facets) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(each) for each in values] for name, values in found.items()}


def _count(
    text: str,
    filters: Filters,
    actor: Actor,
    names: Collection[str],
    keys: Sequence[int] | None = None,
) -> dict[str, Counter[str]]:
    if not text.strip():
        rows = _all_rows(filters, actor) if set(names) - {"tag"} else ()
        tags = _all_tag_rows(filters, actor) if "tag" in names else ()
    else:
        keys = matching_skill_ids(text, actor, filters, limit=MAX_COUNTED_SKILLS) if keys is None else keys
        rows = sql.facet_rows(keys, ("team_id", *_COLUMN_FACETS)) if set(names) - {"tag"} else ()
        tags = sql.tag_counts(keys) if "tag" in names else ()
    return {name: counts for name, counts in _sum_by_facet(rows, tags).items() if name in names}


def _all_rows(filters: Filters, actor: Actor) -> Iterable[_Row]:
    """Team and facet columns with the number of searchable skills that share them, from a covering index."""
    skills = filters.narrow(Skill.objects.searchable_by(actor)).order_by()
    return skills.values_list("team_id", *_COLUMN_FACETS).annotate(Count("pk"))


def _all_tag_rows(filters: Filters, actor: Actor) -> Iterable[_Row]:
    tags = Tag.objects.exclude(scope="").order_by()
    if not actor.is_administrator:
        tags = tags.filter(scope__in=visible_scopes(actor))
    if filters.only_for_people:
        tags = tags.exclude(skill__in=Skill.objects.filter(for_people=False))
    elif filters != Filters():
        tags = tags.filter(skill__in=filters.narrow(Skill.objects.all()))
    return tags.values_list("text").annotate(Count("pk"))


def _sum_by_facet(rows: Iterable[_Row], tags: Iterable[_Row]) -> dict[str, Counter[str]]:
    teams: Counter[int] = Counter()
    found: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for team, *values, count in rows:
        teams[team] += count
        for name, value in zip(_COLUMN_FACETS, values, strict=True):
            if value:
                found[name][value] += count
    slugs = dict(Team.objects.filter(pk__in=teams).values_list("pk", "slug")) if teams else {}
    found["team"] = Counter({slugs[key]: count for key, count in teams.items()})
    found["tag"] = Counter(dict(tags))
    return found


def _most_common(counts: Counter[str], limit: int) -> tuple[FacetValue, ...]:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(FacetValue(value, count) for value, count in ranked[:limit])
