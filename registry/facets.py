"""How many skills each filter would leave: counted over what the actor may see, by page and API alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
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
    skills: QuerySet[Skill] = Skill.objects.visible_to(actor).filter(latest__isnull=False).order_by()
    if not text.strip():
        return {name: _grouped(filters.narrow(skills), FACETS[name]) for name in names}
    found = skills.filter(pk__in=answering(text, actor, filters, most=MOST_COUNTED))
    counts = {"tag": Counter(found.values_list(FACETS["tag"], flat=True))} if "tag" in names else {}
    plain = [name for name in names if name != "tag"]
    columns = zip(*found.values_list(*(FACETS[name] for name in plain)), strict=True) if plain else ()
    counts |= {name: Counter() for name in plain} | dict(zip(plain, map(Counter, columns), strict=False))
    return {name: Counter({value: n for value, n in each.items() if value}) for name, each in counts.items()}


def _grouped(skills: QuerySet[Skill], lookup: str) -> Counter[str]:
    rows = skills.values_list(lookup).annotate(Count("pk", distinct=True))
    return Counter({value: count for value, count in rows if value})


def _ranked(counts: Counter[str], most: int) -> tuple[Value, ...]:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Value(value, count) for value, count in ranked[:most])
