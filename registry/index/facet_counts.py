"""Counts the skills of each filter value, so that the catalog does not count all visible skills.

Changes run in the transaction that changes the index, under the lock of
``registry.index.postings.lock_index_writers``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from registry.core.sql import insert_rows
from registry.index.abilities import kind_name
from registry.models import CountedSkill, FacetCount, Skill

EVERY_SCOPE = "*"
ALL_TEAMS = 0
_COLUMN_FACETS = ("type", "category", "domain", "source", "profile")
_KEY = ("facet", "team_key", "scope", "value")
_ADD_ON_CONFLICT = (
    "ON CONFLICT (facet, team_key, scope, value) DO UPDATE SET "
    "skills = registry_facetcount.skills + EXCLUDED.skills, "
    "for_people = registry_facetcount.for_people + EXCLUDED.for_people"
)
_Key: TypeAlias = tuple[str, int, str, str]


@dataclass(frozen=True)
class FacetState:
    """What is counted of a skill."""

    team_key: int
    scope: str
    for_people: bool
    values: tuple[tuple[str, str], ...]  # pairs of facet and value


def count_skill(skill: Skill, language: str) -> None:
    """Replaces what is counted of the skill by its current values, which may not be saved yet."""
    _replace(skill, state_of(skill, language))


def move_skill(skill: Skill) -> None:
    """Counts the skill in its current scope, with the values that were counted before."""
    if before := _read(skill):
        _replace(skill, replace(before, scope=skill.search_scope) if skill.search_scope else None)


def remove_skill(skill: Skill) -> None:
    """Counts the skill no longer."""
    _replace(skill, None)


def state_of(skill: Skill, language: str) -> FacetState:
    values = [(name, getattr(skill, name)) for name in _COLUMN_FACETS]
    values += [("tag", tag) for tag in dict.fromkeys(tag[:120] for tag in skill.tags)]
    values += [
        ("team", skill.team.slug), ("kind", kind_name(skill.type, skill.abilities)), ("language", language)
    ]  # fmt: skip
    filled = tuple(pair for pair in values if pair[1])
    return FacetState(skill.team_id, skill.search_scope, skill.for_people, filled)


def add_counts(changes: Iterable[tuple[FacetState, int]]) -> None:
    """Adds the number, 1 or -1, to the counts of each state."""
    totals: defaultdict[_Key, list[int]] = defaultdict(lambda: [0, 0])
    for state, number in changes:
        for key in _keys(state):
            totals[key][0] += number
            totals[key][1] += number * state.for_people
    changed = sorted((key, both) for key, both in totals.items() if any(both))
    rows: Iterable[tuple[str | int, ...]] = ((*key, *both) for key, both in changed)
    insert_rows(FacetCount, (*_KEY, "skills", "for_people"), rows, on_conflict=_ADD_ON_CONFLICT)


def _keys(state: FacetState) -> Iterator[_Key]:
    """The rows that count the state: in its scope and in every scope, and in its scope for its team alone."""
    for facet, value in state.values:
        yield facet, ALL_TEAMS, state.scope, value
        yield facet, ALL_TEAMS, EVERY_SCOPE, value
        if facet != "team":
            yield facet, state.team_key, state.scope, value


def _read(skill: Skill) -> FacetState | None:
    row = CountedSkill.objects.filter(skill=skill).first()
    if row is None:
        return None
    values = tuple((facet, value) for facet, value in row.facets)
    return FacetState(row.team_key, row.scope, row.for_people, values)


def _replace(skill: Skill, after: FacetState | None) -> None:
    before = _read(skill)
    if before == after:
        return
    add_counts([(state, number) for state, number in ((before, -1), (after, 1)) if state])
    if after is None:
        CountedSkill.objects.filter(skill=skill).delete()
    else:
        counted_as(skill.pk, after).save(force_insert=before is None, force_update=before is not None)


def counted_as(skill: int, state: FacetState) -> CountedSkill:
    """An unsaved row that records the state as counted."""
    return CountedSkill(
        skill_id=skill,
        team_key=state.team_key,
        scope=state.scope,
        for_people=state.for_people,
        facets=[list(pair) for pair in state.values],
    )
