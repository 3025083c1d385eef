"""Counts facets: the number of visible skills for each filter value."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet, Sum

from registry.core.sql import (
    Readable,
    Reads,
    Rows,
    aggregate_rows,
    count_rows,
    gather,
    padded,
    prepared,
    reader,
    reads_of,
)
from registry.identity.actors import Actor
from registry.index.abilities import kind_name
from registry.index.facet_counts import ALL_TEAMS, EVERY_SCOPE
from registry.models import FacetCount, Skill, Tag, Team
from registry.models.skill import visible_scopes
from registry.search import sql
from registry.search.kinds import LANGUAGE_FILTERS
from registry.search.query import FACETS, Filters, SearchResult, matching_skill_ids

MAX_COUNTED_SKILLS = 1000  # with a text, only the best matches are counted
MAX_FACET_VALUES = 50  # values per facet, the most common ones


class FacetValue(NamedTuple):
    value: str
    count: int  # type: ignore[assignment] # hides the method of tuples


_COLUMN_FACETS = ("type", "category", "domain", "source", "profile")  # single-valued columns of a skill
CATALOG_FACETS = (*FACETS, "kind", "language")
Facets = dict[str, tuple[FacetValue, ...]]
_Counts = dict[str, Counter[str]]


@reader
def facets(
    text: str,
    filters: Filters,
    actor: Actor,
    *,
    limit: int = MAX_FACET_VALUES,
    found: SearchResult | None = None,
    names: Sequence[str] = tuple(FACETS),
) -> Reads[Facets]:
    """At most ``limit`` values of each facet in ``names`` with their counts, most common first. A facet's own
    filter does not apply to its counts. With a text, only the best ``MAX_COUNTED_SKILLS`` matches are
    counted; without one, all visible skills.

    ``found`` is the result of a search with the same text and filters, and with ``MAX_COUNTED_SKILLS`` ids
    for counting. Passing it saves another search.
    """
    filtered = [name for name in names if getattr(filters, name)]
    unfiltered = [name for name in names if name not in filtered]
    counts = yield from gather(
        _count(text, filters, actor, unfiltered, limit, found.counted if found else None),
        *(_count(text, filters.without(name), actor, [name], limit) for name in filtered),
    )
    counted = {name: values for each in counts for name, values in each.items()}
    return {name: _most_common(counted[name], limit) for name in names}


def count_searchable(filters: Filters, actor: Actor) -> Rows[int]:
    """The number of skills that meet the filters and that the actor can find, as the only row; it may be None
    or missing if there are none.
    """
    if not _is_stored(filters):
        return _number(actor, filters)
    column = "for_people" if filters.for_people else "skills"
    if filters.team:
        return _team_number(actor, filters.team, column=column)
    return _site_number(actor, column=column)


def facets_document(found: Facets) -> dict[str, list[dict[str, object]]]:
    return {name: [each._asdict() for each in values] for name, values in found.items()}


def _count(
    text: str,
    filters: Filters,
    actor: Actor,
    names: Collection[str],
    limit: int,
    keys: Sequence[int] | None = None,
) -> Reads[_Counts]:
    if not text.strip():
        if _is_stored(filters):
            return (yield from _read_counts(filters, actor, names, limit))
        return (yield from _count_all(filters, actor, names))
    if keys is None:
        keys = yield from matching_skill_ids.reads(text, actor, filters, limit=MAX_COUNTED_SKILLS)
    found: _Counts = {name: Counter() for name in CATALOG_FACETS}
    yield (rows := sql.facet_rows(keys if names else ()))
    for tag, team, *values, abilities, language, count in rows:
        if tag:
            found["tag"][tag] = count
            continue
        kind = kind_name(values[0], abilities)
        row = dict(zip(_COLUMN_FACETS, values, strict=True), team=team, kind=kind, language=language)
        for name, value in row.items():
            if value:
                found[name][value] += count
    return {name: found[name] for name in names}


def _is_stored(filters: Filters) -> bool:
    """Whether counts are stored for skills with these filters: for all skills, and for those of a team."""
    return replace(filters, team="", for_people=False) == Filters()


def _read_counts(filters: Filters, actor: Actor, names: Collection[str], limit: int) -> Reads[_Counts]:
    """The ``limit`` highest stored counts of each facet."""
    column = "for_people" if filters.for_people else "skills"
    if filters.team:
        rows = {name: _team_counts(actor, name, filters.team, column=column, limit=limit) for name in names}
    else:
        rows = {name: _site_counts(actor, name, column=column, limit=limit) for name in names}
    yield tuple(rows.values())
    return {name: Counter(dict(each)) for name, each in rows.items()}


@prepared
def _site_counts(
    actor: Actor, facet: str, *, column: str, limit: int
) -> QuerySet[FacetCount, tuple[str, int]]:
    return _highest_counts(_of_site(actor).filter(facet=facet), column, limit)


@prepared
def _team_counts(
    actor: Actor, facet: str, team_slug: str, *, column: str, limit: int
) -> QuerySet[FacetCount, tuple[str, int]]:
    return _highest_counts(_of_team(actor, team_slug).filter(facet=facet), column, limit)


@prepared
def _site_number(actor: Actor, *, column: str) -> QuerySet[FacetCount, int]:
    return _sum(_of_site(actor), column)


@prepared
def _team_number(actor: Actor, team_slug: str, *, column: str) -> QuerySet[FacetCount, int]:
    return _sum(_of_team(actor, team_slug), column)


@prepared
def _number(actor: Actor, filters: Filters) -> QuerySet[Skill, int]:
    return count_rows(_skills(actor, filters))


def _of_site(actor: Actor) -> QuerySet[FacetCount]:
    scopes = [EVERY_SCOPE] if actor.is_administrator else visible_scopes(actor)
    return FacetCount.objects.filter(team_key=ALL_TEAMS, scope__in=scopes)


def _of_team(actor: Actor, slug: str) -> QuerySet[FacetCount]:
    rows = FacetCount.objects.filter(team_key__in=Team.objects.filter(slug=slug).values("pk"))
    return rows if actor.is_administrator else rows.filter(scope__in=visible_scopes(actor))


def _highest_counts(rows: QuerySet[FacetCount], column: str, limit: int) -> QuerySet[FacetCount, Any]:
    summed = rows.values("value").annotate(number=Sum(column)).filter(number__gt=0)
    return summed.order_by("-number", "value").values_list("value", "number")[:limit]


def _sum(rows: QuerySet[FacetCount], column: str) -> QuerySet[FacetCount, int]:
    """The number of skills: each has exactly one language."""
    summed = aggregate_rows(rows.filter(facet="language"), number=Sum(column))
    return summed.values_list("number", flat=True)


def _count_all(filters: Filters, actor: Actor, names: Collection[str]) -> Reads[_Counts]:
    """The counts of all skills that meet the filters, with a query for each index that covers their
    columns.
    """
    found: _Counts = {name: Counter() for name in names}
    tags, kinds, in_chinese = (
        _tags(actor, filters),
        _kinds(actor, filters),
        _number_in_chinese(actor, filters),
    )
    wanted: dict[str, Readable] = {"tag": tags, "kind": kinds, "language": in_chinese}
    reads: list[Reads[Any]] = [reads_of(*(rows for name, rows in wanted.items() if name in names))]
    if {"team", "language", *_COLUMN_FACETS} & set(names):
        reads.append(_count_columns(actor, filters))
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


def _skills(actor: Actor, filters: Filters) -> QuerySet[Skill]:
    return filters.searchable_by(actor).order_by()


@prepared
def _kinds(actor: Actor, filters: Filters) -> QuerySet[Skill, tuple[str, int, int]]:
    return _skills(actor, filters).values_list("type", "abilities").annotate(Count("pk"))


@prepared
def _number_in_chinese(actor: Actor, filters: Filters) -> QuerySet[Skill, int]:
    return count_rows(_skills(actor, filters).filter(LANGUAGE_FILTERS["zh"]))


@prepared
def _columns(actor: Actor, filters: Filters) -> QuerySet[Skill, tuple[Any, ...]]:
    return _skills(actor, filters).values_list("team_id", *_COLUMN_FACETS).annotate(Count("pk"))


@prepared
def _team_slugs(*teams: int) -> QuerySet[Team, tuple[int, str]]:
    return Team.objects.filter(pk__in=teams).values_list("pk", "slug")


def _count_columns(actor: Actor, filters: Filters) -> Reads[_Counts]:
    """The counts of teams and columns, from a covering index."""
    teams: Counter[int] = Counter()
    found: _Counts = {name: Counter() for name in _COLUMN_FACETS}
    yield (rows := _columns(actor, filters))
    for team, *values, count in rows:
        teams[team] += count
        for name, value in zip(_COLUMN_FACETS, values, strict=True):
            if value:
                found[name][value] += count
    yield (named := _team_slugs(*padded(list(teams))))
    slugs = dict(named)
    found["team"] = Counter({slugs[key]: count for key, count in teams.items()})
    return found


@prepared
def _tags(actor: Actor, filters: Filters) -> QuerySet[Tag, tuple[str, int]]:
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
