"""How many skills each filter would leave: counted over what the actor may see, by page and API alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count

from registry import bulk
from registry.actors import Actor
from registry.models import Skill, Tag, Team
from registry.models.skill import scopes_of
from registry.search import FACETS, Filters, Search, answering

MOST_COUNTED = 1000  # of what a text finds, the best are counted
MOST_VALUES = 50  # of a facet, the commonest


@dataclass(frozen=True)
class Value:
    value: str
    count: int


_Row = tuple[Any, ...]  # values, and how many skills have them
_PLAIN = ("type", "category", "domain", "source", "profile")  # a skill has one of each, as of its team
_SOME = f"SELECT team_id, {', '.join(_PLAIN)}, 1 FROM registry_skill WHERE id IN ({{keys}})"
_SOME_TAGS = "SELECT text, COUNT(*) FROM registry_tag WHERE skill_id IN ({keys}) GROUP BY text"
Facets = dict[str, tuple[Value, ...]]


def facets(
    text: str, filters: Filters, actor: Actor, *, most: int = MOST_VALUES, found: Search | None = None
) -> Facets:
    """For each facet the values left by the other filters, not by its own, the commonest first.

    ``found`` is a search for the text with these filters that kept ``MOST_COUNTED`` for counting.
    """
    chosen = [name for name in FACETS if getattr(filters, name)]
    left = [name for name in FACETS if name not in chosen]
    counted = _counted(text, filters, actor, left, found.counted if found else None)
    for name in chosen:
        counted |= _counted(text, filters.without(name), actor, [name])
    return {name: _ranked(counted[name], most) for name in FACETS}


def facets_document(found: Facets) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(each) for each in values] for name, values in found.items()}


def _counted(
    text: str,
    filters: Filters,
    actor: Actor,
    names: Collection[str],
    keys: Sequence[int] | None = None,
) -> dict[str, Counter[str]]:
    if not text.strip():
        rows = _of_all(filters, actor) if set(names) - {"tag"} else ()
        tags = _tags_of_all(filters, actor) if "tag" in names else ()
    else:
        keys = answering(text, actor, filters, most=MOST_COUNTED) if keys is None else keys
        rows = _of_some(_SOME, keys) if set(names) - {"tag"} else ()
        tags = _of_some(_SOME_TAGS, keys) if "tag" in names else ()
    return {name: counts for name, counts in _sums(rows, tags).items() if name in names}


def _of_all(filters: Filters, actor: Actor) -> Iterable[_Row]:
    """From one index that holds it all, in its order."""
    skills = filters.narrow(Skill.objects.found_by(actor)).order_by()
    return skills.values_list("team_id", *_PLAIN).annotate(Count("pk"))


def _tags_of_all(filters: Filters, actor: Actor) -> Iterable[_Row]:
    tags = Tag.objects.exclude(scope="").order_by()
    if not actor.is_administrator:
        tags = tags.filter(scope__in=scopes_of(actor))
    if filters.only_for_people:
        tags = tags.exclude(skill__in=Skill.objects.filter(for_people=False))
    elif filters != Filters():
        tags = tags.filter(skill__in=filters.narrow(Skill.objects.all()))
    return tags.values_list("text").annotate(Count("pk"))


def _of_some(sql: str, keys: Sequence[int]) -> Iterable[_Row]:
    """``keys`` are of skills in sight."""
    return bulk.read(sql.format(keys=bulk.places(keys)), keys) if keys else ()


def _sums(rows: Iterable[_Row], tags: Iterable[_Row]) -> dict[str, Counter[str]]:
    teams: Counter[int] = Counter()
    found: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for team, *values, count in rows:
        teams[team] += count
        for name, value in zip(_PLAIN, values, strict=True):
            if value:
                found[name][value] += count
    slugs = dict(Team.objects.filter(pk__in=teams).values_list("pk", "slug")) if teams else {}
    found["team"] = Counter({slugs[key]: count for key, count in teams.items()})
    found["tag"] = Counter(dict(tags))
    return found


def _ranked(counts: Counter[str], most: int) -> tuple[Value, ...]:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Value(value, count) for value, count in ranked[:most])
