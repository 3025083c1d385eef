"""Finds trigger collisions: skills with the same or similar triggers, among the skills visible to the actor.

Similar phrases differ by one added or replaced word.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from registry.core import search_terms
from registry.identity.actors import Actor
from registry.lookup import skills as catalog
from registry.models import Skill, Trigger, TriggerKind

MAX_COLLISIONS = 200  # collisions per result
MAX_MEMBERS = 50  # per collision
MAX_EXAMINED = 1_000  # triggers whose collisions are found
MAX_SAME = 2_000  # triggers read per 500 texts
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


class _Row(NamedTuple):
    skill: int
    kind: str
    key: str
    text: str


def find_collisions(actor: Actor, *, team: str = "", skill: str = "") -> Collisions:
    """At most MAX_COLLISIONS collisions of skills that are for agents and visible to the actor. ``team`` and
    ``skill``, if set, must be involved.

    Only the newest MAX_EXAMINED triggers, of the team or skill if set, are examined, so that the time does
    not grow with the catalog. They are compared with all triggers for equal words, and with each other and
    the newest MAX_EXAMINED of all for similar ones.

    Raises the refusals of ``find_team`` and ``find_skill``, so that a typo does not look like "no
    collisions".
    """
    skills = Skill.objects.discoverable_by(actor).filter(latest__isnull=False, for_agents=True)
    visible = Trigger.objects.visible_to(actor).filter(Exists(skills.filter(pk=OuterRef("skill"))))
    own = visible
    if team:
        own = own.filter(skill__team=catalog.find_team(team, actor))
    if skill:
        own = own.filter(skill=catalog.find_skill(skill, actor))
    examined, complete = _newest(own)
    compared = list(dict.fromkeys([*examined, *_newest(visible)[0]])) if team or skill else examined
    wanted = {row.skill for row in examined}
    groups = (
        group
        for group in (*_exact_groups(examined, visible), *_similar_groups(compared))
        if any(row.skill in wanted for row in group[2])
    )
    found = list(islice(groups, MAX_COLLISIONS + 1))
    labels = _labels({row.skill for _, _, members in found for row in members})
    rows = (
        Collision(kind, text, tuple(_colliding_triggers(members, labels))) for kind, text, members in found
    )
    return Collisions(tuple(islice(rows, MAX_COLLISIONS)), complete and len(found) <= MAX_COLLISIONS)


def _newest(triggers: QuerySet[Trigger]) -> tuple[list[_Row], bool]:
    """The newest MAX_EXAMINED triggers, and whether these are all."""
    rows = list(triggers.order_by("-skill_id", "-pk").values_list(*_COLUMNS)[: MAX_EXAMINED + 1])
    return [_Row(*row) for row in rows[:MAX_EXAMINED]], len(rows) <= MAX_EXAMINED


_Group = tuple[str, str, list[_Row]]


def _exact_groups(rows: Sequence[_Row], visible: QuerySet[Trigger]) -> Iterator[_Group]:
    """Yields the groups of triggers with the words of one of the rows, the largest group first."""
    for kind, kinds in (("event", (TriggerKind.EVENT,)), ("exact", _EXACT_KINDS)):
        members: defaultdict[str, dict[_Row, None]] = defaultdict(dict)
        keys = dict.fromkeys(row.key for row in rows if row.kind in kinds)
        for part in _batches(keys):
            same = visible.filter(key__in=part, kind__in=kinds)
            for row in same.order_by().values_list(*_COLUMNS)[:MAX_SAME]:
                members[row[2]][_Row(*row)] = None
        for row in rows:  # those beyond MAX_SAME
            if row.kind in kinds:
                members[row.key][row] = None
        groups = [(len({row.skill for row in some}), key, sorted(some)) for key, some in members.items()]
        for skills, _key, some in sorted(groups, key=lambda group: (-group[0], group[1])):
            if skills > 1:
                yield kind, some[0].text, some


def _similar_groups(rows: Iterable[_Row]) -> Iterator[_Group]:
    """Yields groups of triggers that differ by one added or replaced word. A group that is part of another is
    omitted.
    """
    buckets: defaultdict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        if row.kind in _SIMILAR_KINDS:
            for bucket in _buckets(row.key):
                buckets[bucket].append(row)
    several = [bucket for bucket, members in buckets.items() if len(members) > 1]
    reported: defaultdict[_Row, list[frozenset[tuple[int, str]]]] = defaultdict(list)
    for bucket in sorted(several, key=lambda each: (-len(buckets[each]), each)):
        members = buckets[bucket]
        keys = frozenset((row.skill, row.key) for row in members)
        if _differs(members) and not any(keys <= other for other in reported[members[0]]):
            for row in members:
                reported[row].append(keys)
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
        rows = Skill.objects.filter(pk__in=part).values_list("pk", "team__slug", "slug")
        found |= {key: f"{team}/{slug}" for key, team, slug in rows}
    return found


def _colliding_triggers(members: Iterable[_Row], labels: Mapping[int, str]) -> list[CollidingTrigger]:
    every = {
        CollidingTrigger(labels[row.skill], row.kind, row.text) for row in members if row.skill in labels
    }
    return sorted(every, key=lambda each: (each.skill, each.kind, each.text))[:MAX_MEMBERS]


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
