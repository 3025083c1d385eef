"""Counts facets: the number of visible skills for each filter value."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, QuerySet

from registry.core.sql import Reads, count_rows, gather, read_together, reads_of
from registry.identity.actors import Actor
from registry.models import Skill, Tag, Team
from registry.models.skill import visible_scopes
from registry.search import sql
from registry.search.kinds import LANGUAGE_FILTERS, kind_name
from registry.search.query import FACETS, Filters, SearchResult, matching_skill_ids

MAX_COUNTED_SKILLS = 1000  # with a text, only the best matches are counted
MAX_FACET_VALUES = 50  # values per facet, the most common ones


@dataclass(frozen=True)
class FacetValue:
    value: str
    count: int


_COLUMN_FACETS = ("type", "category", "domain", "source", "profile")  # single-valued columns of a skill
CATALOG_FACETS = (*FACETS, "kind", "language")
Facets = dict[str, tuple[FacetValue, ...]]
_Counts = dict[str, Counter[str]]


def facets(
    text: str,
    filters: Filters,
    actor: Actor,
    *,
    limit: int = MAX_FACET_VALUES,
    found: SearchResult | None = None,
    names: Sequence[str] = tuple(FACETS),
) -> Facets:
    """At most ``limit`` values of each facet in ``names`` with their counts, most common first. A facet's own
    filter does not apply to its counts. With a text, only the best ``MAX_COUNTED_SKILLS`` matches are
    counted; without one, all visible skills.

    ``found`` is the result of a search with the same text and filters, and with ``MAX_COUNTED_SKILLS`` ids
    for counting. Passing it saves another search.
    """
    filtered = [name for name in names if getattr(filters, name)]
    unfiltered = [name for name in names if name not in filtered]
    counts = read_together(
        _count(text, filters, actor, unfiltered, found.counted if found else None),
        *(_count(text, filters.without(name), actor, [name]) for name in filtered),
    )
    counted = {name: values for each in counts for name, values in each.items()}
    return {name: _most_common(counted[name], limit) for name in names}


def facets_document(found: Facets) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(each) for each in values] for name, values in found.items()}


def _count(
    text: str,
    filters: Filters,
    actor: Actor,
    names: Collection[str],
    keys: Sequence[int] | None = None,
) -> Reads[_Counts]:
    if not text.strip():
        return (yield from _count_all(filters, actor, names))
    keys = matching_skill_ids(text, actor, filters, limit=MAX_COUNTED_SKILLS) if keys is None else keys
    found: _Counts = {name: Counter() for name in CATALOG_FACETS}
    for tag, team, *values, abilities, language, count in sql.facet_rows(keys) if names else ():
        if tag:
            found["tag"][tag] = count
            continue
        kind = kind_name(values[0], abilities)
        row = dict(zip(_COLUMN_FACETS, values, strict=True), team=team, kind=kind, language=language)
        for name, value in row.items():
            if value:
                found[name][value] += count
    return {name: found[name] for name in names}


def _count_all(filters: Filters, actor: Actor, names: Collection[str]) -> Reads[_Counts]:
    """The counts of all searchable skills, with a query for each index that covers their columns."""
    skills = filters.narrow(Skill.objects.searchable_by(actor)).order_by()
    found: _Counts = {name: Counter() for name in names}
    tags, kinds = _tag_rows(filters, actor), skills.values_list("type", "abilities").annotate(Count("pk"))
    in_chinese = count_rows(skills.filter(LANGUAGE_FILTERS["zh"]))
    wanted = {"tag": tags, "kind": kinds, "language": in_chinese}
    reads: list[Reads[Any]] = [reads_of(*(rows for name, rows in wanted.items() if name in names))]
    if {"team", "language", *_COLUMN_FACETS} & set(names):
        reads.append(_count_columns(skills))
    _others, *columns = yield from gather(*reads)
    for each in columns:
        found |= each
    if "tag" in names:
        found["tag"] = Counter(dict(tags))
    if "kind" in names:
        for type_, abilities, count in kinds:
            found["kind"][kind_name(type_, abilities)] += count
    if "language" in names:
        chinese = sum(in_chinese)
        counts = {"zh": chinese, "en": found["team"].total() - chinese}
        found["language"] = Counter({name: count for name, count in counts.items() if count})
    return {name: found[name] for name in names}


def _count_columns(skills: QuerySet[Skill]) -> Reads[_Counts]:
    """The counts of teams and columns, from a covering index."""
    teams: Counter[int] = Counter()
    found: _Counts = {name: Counter() for name in _COLUMN_FACETS}
    yield (rows := skills.values_list("team_id", *_COLUMN_FACETS).annotate(Count("pk")))
    for team, *values, count in rows:
        teams[team] += count
        for name, value in zip(_COLUMN_FACETS, values, strict=True):
            if value:
                found[name][value] += count
    yield (named := Team.objects.filter(pk__in=list(teams)).values_list("pk", "slug"))
    slugs = dict(named)
    found["team"] = Counter({slugs[key]: count for key, count in teams.items()})
    return found


def _tag_rows(filters: Filters, actor: Actor) -> QuerySet[Tag, tuple[str, int]]:
    tags = Tag.objects.exclude(scope="").order_by()
    if not actor.is_administrator:
        tags = tags.filter(scope__in=visible_scopes(actor))
    if filters.only_for_people:
        tags = tags.exclude(skill__in=Skill.objects.filter(for_people=False))
    elif filters != Filters():
        tags = tags.filter(skill__in=filters.narrow(Skill.objects.all()))
    return tags.values_list("text").annotate(Count("pk"))


def _most_common(counts: Counter[str], limit: int) -> tuple[FacetValue, ...]:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(FacetValue(value, count) for value, count in ranked[:limit])
