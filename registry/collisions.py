"""Skills that are asked for in the same words: which of them answers is then chance, or its use.

Near ones differ by one word, added or exchanged. Only what the actor may see is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, QuerySet

from registry import catalog, words
from registry.actors import Actor
from registry.models import Skill, Trigger, TriggerKind

MOST = 200  # collisions that are told
MOST_MEMBERS = 50  # of one
MOST_NEAR = 50_000  # phrases that are compared for being near
_SAID = (TriggerKind.PHRASE, TriggerKind.INTENT, TriggerKind.NAME)
_NEAR = (TriggerKind.PHRASE, TriggerKind.NAME)
_COLUMNS = ("skill_id", "kind", "key", "text")
_LEAST_WORDS = 2  # that two phrases share, to be near
_LEAST_CHARACTERS = 3  # in what is written without spaces


@dataclass(frozen=True)
class Asking:
    """One skill's trigger among those that collide."""

    skill: str
    kind: str
    text: str


@dataclass(frozen=True)
class Collision:
    """``kind`` is event, said (the same words) or near (all but one)."""

    kind: str
    text: str
    by: tuple[Asking, ...]

    @property
    def skills(self) -> frozenset[str]:
        return frozenset(each.skill for each in self.by)


@dataclass(frozen=True)
class Collisions:
    rows: tuple[Collision, ...]
    complete: bool  # False where there is more than is told or compared


@dataclass(frozen=True)
class _Row:
    skill: int
    kind: str
    key: str
    text: str


def collisions(actor: Actor, *, team: str = "", skill: str = "") -> Collisions:
    """What collides with one another; ``team`` and ``skill`` narrow to what they are part of, and are refused
    where they are not there: nothing collides with a name that is misspelt."""
    team = catalog.find_team(team, actor).slug if team else ""
    skill = str(catalog.find_skill(skill, actor)) if skill else ""
    skills = Skill.objects.offered_to(actor).filter(latest__isnull=False, for_agents=True)
    triggers = Trigger.objects.visible_to(actor).filter(skill__in=skills)
    rows = list(
        triggers.filter(kind__in=_NEAR).order_by("-skill_id", "pk").values_list(*_COLUMNS)[: MOST_NEAR + 1]
    )
    groups = [*_same(triggers), *_near(_Row(*row) for row in rows[:MOST_NEAR])]
    labels = _labels({row.skill for _, _, members in groups for row in members})
    found = (Collision(kind, text, tuple(_askings(members, labels))) for kind, text, members in groups)
    wanted = [each for each in found if _concerns(each, team, skill)]
    return Collisions(tuple(wanted[:MOST]), len(wanted) <= MOST and len(rows) <= MOST_NEAR)


_Group = tuple[str, str, list[_Row]]


def _same(triggers: QuerySet[Trigger]) -> Iterator[_Group]:
    """Triggers of several skills with one key: events for themselves, and whatever is said."""
    for kind, kinds in (("event", (TriggerKind.EVENT,)), ("said", _SAID)):
        some = triggers.filter(kind__in=kinds)
        shared = some.values_list("key").annotate(n=Count("skill", distinct=True)).filter(n__gt=1)
        keys = [key for key, _ in shared.order_by("-n", "key")[: MOST + 1]]
        members: defaultdict[str, list[_Row]] = defaultdict(list)
        for part in _parts(keys):
            for row in some.filter(key__in=part).order_by("pk").values_list(*_COLUMNS):
                members[row[2]].append(_Row(*row))
        for key in keys:
            yield kind, members[key][0].text, members[key]


def _near(rows: Iterable[_Row]) -> Iterator[_Group]:
    """Rows whose words are the same but for one, which is left out or another; not those with one key."""
    buckets: defaultdict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        for bucket in _buckets(row.key):
            buckets[bucket].append(row)
    told: set[frozenset[tuple[int, str]]] = set()
    for bucket in sorted(buckets, key=lambda each: (-len(each), each)):
        members = buckets[bucket]
        said = frozenset((row.skill, row.key) for row in members)
        if _differs(members) and not any(said <= other for other in told):
            told.add(said)
            yield "near", members[0].text, members


def _buckets(key: str) -> Iterator[tuple[str, ...]]:
    """The words of a phrase in any order, and what is left of them without each."""
    every = sorted(set(key.split()))
    least = _LEAST_CHARACTERS if words.has_cjk(key) else _LEAST_WORDS
    if len(every) >= least:
        yield tuple(every)
    if len(every) > least:
        yield from (tuple(every[:at] + every[at + 1 :]) for at in range(len(every)))


def _differs(members: Collection[_Row]) -> bool:
    """Whether two skills say it in different words; the same words are a collision of their own."""
    return len({row.skill for row in members}) > 1 and len({row.key for row in members}) > 1


def _labels(keys: Collection[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in _parts(keys):
        found |= {row.pk: str(row) for row in Skill.objects.select_related("team").filter(pk__in=part)}
    return found


def _askings(members: Iterable[_Row], labels: Mapping[int, str]) -> list[Asking]:
    every = {Asking(labels[row.skill], row.kind, row.text) for row in members if row.skill in labels}
    return sorted(every, key=lambda each: (each.skill, each.kind, each.text))[:MOST_MEMBERS]


def _concerns(found: Collision, team: str, skill: str) -> bool:
    if skill and skill not in found.skills:
        return False
    return not team or any(label.startswith(f"{team}/") for label in found.skills)


def _parts(keys: Iterable[str] | Iterable[int]) -> Iterator[list[str] | list[int]]:
    rest = iter(keys)
    while part := list(islice(rest, 500)):
        yield part  # type: ignore[misc]


def document(found: Collisions) -> dict[str, object]:
    """The JSON of command and API."""
    return {
        "complete": found.complete,
        "collisions": [
            {
                "kind": each.kind,
                "text": each.text,
                "by": [{"skill": one.skill, "kind": one.kind, "text": one.text} for one in each.by],
            }
            for each in found.rows
        ],
    }
