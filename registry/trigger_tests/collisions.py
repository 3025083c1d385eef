"""Finds trigger collisions: skills with the same or similar triggers, among the skills visible to the actor.

Similar phrases differ by one added or replaced word.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, QuerySet

from registry.core import search_terms
from registry.identity.actors import Actor
from registry.lookup import skills as catalog
from registry.models import Skill, Trigger, TriggerKind

MAX_COLLISIONS = 200  # collisions per result
MAX_MEMBERS = 50  # per collision
MAX_COMPARED_PHRASES = 50_000  # phrases compared for similarity
_EXACT_KINDS = (TriggerKind.PHRASE, TriggerKind.INTENT, TriggerKind.NAME)
_SIMILAR_KINDS = (TriggerKind.PHRASE, TriggerKind.NAME)
_COLUMNS = ("skill_id", "kind", "key", "text")
_MIN_SHARED_WORDS = 2  # words that similar phrases must share
_MIN_SHARED_CHARACTERS = 3  # characters that they must share in scripts without spaces


@dataclass(frozen=True)
class CollidingTrigger:
    skill: str
    kind: str
    text: str


@dataclass(frozen=True)
class Collision:
    """A set of colliding triggers. ``kind`` is event, exact (same words) or similar (one word differs)."""

    kind: str
    text: str
    triggers: tuple[CollidingTrigger, ...]

    @property
    def skills(self) -> frozenset[str]:
        return frozenset(each.skill for each in self.triggers)


@dataclass(frozen=True)
class Collisions:
    rows: tuple[Collision, ...]
    complete: bool  # False if a limit was reached


@dataclass(frozen=True)
class _Row:
    skill: int
    kind: str
    key: str
    text: str


def find_collisions(actor: Actor, *, team: str = "", skill: str = "") -> Collisions:
    """At most MAX_COLLISIONS collisions of skills that are for agents and visible to the actor. ``team`` and
    ``skill``, if set, must be involved.

    Raises the refusals of ``find_team`` and ``find_skill``, so that a typo does not look like "no
    collisions".
    """
    team = catalog.find_team(team, actor).slug if team else ""
    skill = str(catalog.find_skill(skill, actor)) if skill else ""
    skills = Skill.objects.discoverable_by(actor).filter(latest__isnull=False, for_agents=True)
    triggers = Trigger.objects.visible_to(actor).filter(skill__in=skills)
    rows = list(
        triggers.filter(kind__in=_SIMILAR_KINDS)
        .order_by("-skill_id", "pk")
        .values_list(*_COLUMNS)[: MAX_COMPARED_PHRASES + 1]
    )
    groups = [*_exact_groups(triggers), *_similar_groups(_Row(*row) for row in rows[:MAX_COMPARED_PHRASES])]
    labels = _labels({row.skill for _, _, members in groups for row in members})
    found = (
        Collision(kind, text, tuple(_colliding_triggers(members, labels))) for kind, text, members in groups
    )
    wanted = [each for each in found if _involves(each, team, skill)]
    return Collisions(
        tuple(wanted[:MAX_COLLISIONS]), len(wanted) <= MAX_COLLISIONS and len(rows) <= MAX_COMPARED_PHRASES
    )


_Group = tuple[str, str, list[_Row]]


def _exact_groups(triggers: QuerySet[Trigger]) -> Iterator[_Group]:
    for kind, kinds in (("event", (TriggerKind.EVENT,)), ("exact", _EXACT_KINDS)):
        some = triggers.filter(kind__in=kinds)
        shared = some.values_list("key").annotate(n=Count("skill", distinct=True)).filter(n__gt=1)
        keys = [key for key, _ in shared.order_by("-n", "key")[: MAX_COLLISIONS + 1]]
        members: defaultdict[str, list[_Row]] = defaultdict(list)
        for part in _batches(keys):
            for row in some.filter(key__in=part).order_by("pk").values_list(*_COLUMNS):
                members[row[2]].append(_Row(*row))
        for key in keys:
            yield kind, members[key][0].text, members[key]


def _similar_groups(rows: Iterable[_Row]) -> Iterator[_Group]:
    """Yields groups of triggers that differ by one added or replaced word. A group that is part of another is
    omitted.
    """
    buckets: defaultdict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        for bucket in _buckets(row.key):
            buckets[bucket].append(row)
    reported: set[frozenset[tuple[int, str]]] = set()
    for bucket in sorted(buckets, key=lambda each: (-len(each), each)):
        members = buckets[bucket]
        keys = frozenset((row.skill, row.key) for row in members)
        if _differs(members) and not any(keys <= other for other in reported):
            reported.add(keys)
            yield "similar", members[0].text, members


def _buckets(key: str) -> Iterator[tuple[str, ...]]:
    """Yields the sorted words of a phrase, then these words without each word in turn. Phrases that share
    such a bucket are similar. Buckets with too few words are omitted.
    """
    every = sorted(set(key.split()))
    minimum = _MIN_SHARED_CHARACTERS if search_terms.has_cjk(key) else _MIN_SHARED_WORDS
    if len(every) >= minimum:
        yield tuple(every)
    if len(every) > minimum:
        yield from (tuple(every[:at] + every[at + 1 :]) for at in range(len(every)))


def _differs(members: Collection[_Row]) -> bool:
    """Whether the members belong to several skills and have several keys. A single key is an exact match."""
    return len({row.skill for row in members}) > 1 and len({row.key for row in members}) > 1


def _labels(keys: Collection[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in _batches(keys):
        found |= {row.pk: str(row) for row in Skill.objects.select_related("team").filter(pk__in=part)}
    return found


def _colliding_triggers(members: Iterable[_Row], labels: Mapping[int, str]) -> list[CollidingTrigger]:
    every = {
        CollidingTrigger(labels[row.skill], row.kind, row.text) for row in members if row.skill in labels
    }
    return sorted(every, key=lambda each: (each.skill, each.kind, each.text))[:MAX_MEMBERS]


def _involves(found: Collision, team: str, skill: str) -> bool:
    if skill and skill not in found.skills:
        return False
    return not team or any(label.startswith(f"{team}/") for label in found.skills)


def _batches(keys: Iterable[str] | Iterable[int]) -> Iterator[list[str] | list[int]]:
    rest = iter(keys)
    while part := list(islice(rest, 500)):
        yield part  # type: ignore[misc]


def collisions_document(found: Collisions) -> dict[str, object]:
    return {
        "complete": found.complete,
        "collisions": [
            {
                "kind": each.kind,
                "text": each.text,
                "triggers": [
                    {"skill": one.skill, "kind": one.kind, "text": one.text} for one in each.triggers
                ],
            }
            for each in found.rows
        ],
    }
