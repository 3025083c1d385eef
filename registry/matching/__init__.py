"""Which skills fit a request, and why: by what was said word by word, else by weight of words.

A match knows only what its actor may see: its answers are the same whatever others keep to themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from django.utils import timezone

from registry import glossary, retrieval, usage, words
from registry.actors import Actor
from registry.listing.offering import pinned_rows, pinned_to, said_by
from registry.matching import lexical
from registry.matching.asking import MOST_PIECES, concepts, word_of
from registry.matching.confidence import LEAST, confidence
from registry.matching.denying import denied_places
from registry.matching.explicit import Asked, asked_for
from registry.matching.pinned import Pinned
from registry.models import Canonical, Skill
from registry.packages import conditions
from registry.rows import Order, orders_of, skills_of
from registry.search import best_field

MOST_CHARACTERS = 6_000  # of an utterance: more than its pieces can have, unless they are no words
_SPARE = 20  # candidates past the limit: some are not for agents, or wait for a file
_TRIGGER_FIELDS = {"event": "event_types", "intent": "intents", "phrase": "phrases", "name": "name"}
_PRIORITY = 0.1  # what a skill's priority may move, of its score


class Tier(IntEnum):
    LEXICAL = 0
    EXPLICIT = 1


@dataclass(frozen=True)
class Request:
    """What is known of what somebody wants; each part may be empty."""

    utterance: str = ""
    intent: str = ""
    event: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reason:
    """What spoke for a skill: where it stands in the utterance, in which field, its part of the score."""

    kind: str  # event, intent, phrase or name; word or meaning
    field: str
    text: str
    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Match:
    skill: Skill
    score: float  # 0 to 1: how likely it is the one that is meant
    tier: Tier
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Matches:
    request: Request
    rows: tuple[Match, ...]

    @property
    def none(self) -> bool:
        return not self.rows


@dataclass(frozen=True)
class _Open:
    """What is offered for the named files, with what the answered version says of it."""

    row: Order
    paths: Sequence[str]
    priority: float


@dataclass(frozen=True)
class _Candidate:
    """The key of a skill that may be offered; ``rank`` orders it: the smallest first."""

    skill: int
    tier: Tier
    score: float
    rank: tuple[float, ...]


def match(request: Request, actor: Actor, *, limit: int = 20) -> Matches:
    """The skills that fit the request, best first; none where even the best is unlikely."""
    utterance = request.utterance[:MOST_CHARACTERS]
    pieces = words.pieces(utterance, most=MOST_PIECES)
    reach, known, pinned = retrieval.reach(actor), glossary.lines(), Pinned(pinned_to(actor))
    denied = denied_places(utterance, pieces)
    asked = [
        each
        for each in asked_for(
            utterance, pieces, pinned, intent=request.intent, event=request.event, actor=actor, readable=reach
        )
        if not each.end or each.start not in denied
    ]
    wanted = [each for each in concepts(utterance, pieces, known) if each.start not in denied]
    scores = lexical.score(wanted, known, actor, reach, pinned)
    best = _best(asked, scores, limit + _SPARE)
    pins_of = {**pinned_rows(pinned.keys, best), **{each.skill: each.pin for each in asked if each.pin}}
    ranked = _ranked(asked, scores, _open(best, request, pins_of))[:limit]
    if not ranked or ranked[0].score < LEAST:
        return Matches(request, ())
    reasons = _reasons(ranked, asked, scores, known)
    skills = skills_of([each.skill for each in ranked])
    for key, skill in skills.items():
        skill.found_as = pins_of.get(key)
    there = (each for each in ranked if each.skill in skills)
    return Matches(
        request,
        tuple(Match(skills[each.skill], each.score, each.tier, reasons[each.skill]) for each in there),
    )


def _best(asked: Sequence[Asked], scores: lexical.Scores, most: int) -> list[int]:
    """The best candidates by what was asked for and by words."""
    said = sorted(asked, key=lambda each: (-each.score, each.skill))
    return sorted({each.skill for each in said[:most]} | set(scores.best(most)))


def _open(best: Sequence[int], request: Request, pins_of: Mapping[int, Canonical]) -> list[_Open]:
    """Those whose files are among the named ones; what was found is in reach."""
    found = (_offered(row, pins_of.get(row.key)) for row in orders_of(best))
    return [each for each in found if conditions.fits(each.paths, request.paths)]


def _offered(row: Order, pin: Canonical | None) -> _Open:
    """By its canonical name a skill stands for the pinned version."""
    if not pin:
        return _Open(row, row.paths, row.priority)
    said = said_by(pin)
    return _Open(row, said.paths, said.triggers.priority)


def priority_of(skill: Skill) -> float:
    """What its answered version asks for, among skills that fit as well."""
    return _within(said_by(skill.found_as).triggers.priority if skill.found_as else skill.priority)


def _within(priority: float) -> float:
    return min(max(priority, 0.0), 1.0)


def _ranked(asked: Iterable[Asked], scores: lexical.Scores, skills: Iterable[_Open]) -> list[_Candidate]:
    """By tier, then score with priority; equals by what is used."""
    best: dict[int, float] = {}
    for each in asked:
        best[each.skill] = max(each.score, best.get(each.skill, 0))
    now = timezone.now()

    def candidate(one: _Open) -> _Candidate:
        key = one.row.key
        told = scores.scores.get(key, 0)
        score = best[key] if key in best else confidence(told, scores)
        tier = Tier.EXPLICIT if key in best else Tier.LEXICAL
        moved = 1 + _PRIORITY * (_within(one.priority) - 0.5)
        used = usage.score(one.row.usage_count, one.row.last_used_at, now)
        first = -round(best[key] * moved, 6) if key in best else 0.0
        return _Candidate(key, tier, score, (-tier, first, -told * moved, -used, key))

    return sorted((candidate(one) for one in skills), key=lambda each: each.rank)


def _reasons(
    ranked: Sequence[_Candidate], asked: Sequence[Asked], scores: lexical.Scores, known: glossary.Lines
) -> dict[int, tuple[Reason, ...]]:
    """The triggers that were met, or the words that counted, the heaviest first."""
    met: defaultdict[int, list[Asked]] = defaultdict(list)
    for each in sorted(asked, key=lambda each: (-each.score, each.kind, each.text)):
        met[each.skill].append(each)
    parts = scores.parts({each.skill for each in ranked if each.tier is Tier.LEXICAL})
    return {
        each.skill: _met(met[each.skill]) if met[each.skill] else _told(parts[each.skill], known)
        for each in ranked
    }


def _met(asked: Sequence[Asked]) -> tuple[Reason, ...]:
    total = sum(each.score for each in asked)
    return tuple(
        Reason(each.kind, _TRIGGER_FIELDS[each.kind], each.text, each.start, each.end, each.score / total)
        for each in asked
    )


def _told(parts: Sequence[lexical.Part], known: glossary.Lines) -> tuple[Reason, ...]:
    total = sum(part.score for part in parts) or 1
    return tuple(
        Reason(
            "word" if part.is_own else "meaning",
            best_field(part.mask),
            part.concept.text if part.is_own else word_of(part.concept, part.term, known),
            part.concept.start,
            part.concept.end,
            part.score / total,
        )
        for part in parts
    )
