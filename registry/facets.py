"""How many skills each filter would leave: counted over what the actor may see, by page and API alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from django.db.models import Count, QuerySet

from registry.actors import Actor
from registry.models import Skill
from registry.search import FACETS, Filters, answering

MOST_COUNTED = 1000  # of what a text finds, the best are counted
MOST_VALUES = 50  # of a facet, the commonest


@dataclass(frozen=True)
class Value:
    value: str
    count: int


Facets = dict[str, tuple[Value, ...]]


def facets(text: str, filters: Filters, actor: Actor, *, most: int = MOST_VALUES) -> Facets:
    """For each facet the values left by the other filters, not by its own, the commonest first."""
    chosen = [name for name in FACETS if getattr(filters, name)]
    counted = _counted(text, filters, actor, [name for name in FACETS if name not in chosen])
    for name in chosen:
        counted |= _counted(text, filters.without(name), actor, [name])
    return {name: _ranked(counted[name], most) for name in FACETS}


def facets_document(found: Facets) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(each) for each in values] for name, values in found.items()}


def _counted(text: str, filters: Filters, actor: Actor, names: Collection[str]) -> dict[str, Counter[str]]:
    if not names:
        return {}
    skills: QuerySet[Skill] = Skill.objects.offered_to(actor).filter(latest__isnull=False).order_by()
    if text.strip():
        skills = skills.filter(pk__in=answering(text, actor, filters, most=MOST_COUNTED))
    else:
        skills = filters.narrow(skills)
    plain = [name for name in names if name != "tag"]  # a skill has one of each of these: one reading for all
    counts = _grouped(skills, plain) if plain else {}
    return counts | _grouped(skills, ["tag"]) if "tag" in names else counts


def _grouped(skills: QuerySet[Skill], names: Sequence[str]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    for *values, count in skills.values_list(*(FACETS[name] for name in names)).annotate(Count("pk")):
        for name, value in zip(names, values, strict=True):
            if value:
                found[name][value] += count
    return found


def _ranked(counts: Counter[str], most: int) -> tuple[Value, ...]:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Value(value, count) for value, count in ranked[:most])
