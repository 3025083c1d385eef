"""Which skills fit a request, and why: by what was said word by word, else by weight of words.

A match knows only what its actor may see: its answers are the same whatever others keep to themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from django.utils import timezone
from pathspec import GitIgnoreSpec

from registry import usage, words
from registry.actors import Actor
from registry.matching import lexical
from registry.matching.asking import MOST_PIECES, concepts
from registry.matching.confidence import LEAST, confidence
from registry.matching.explicit import Asked, asked_for
from registry.matching.needs import Abilities, abilities
from registry.models import Posting, Skill
from registry.search import best_field

MOST_CHARACTERS = 20_000  # of an utterance: more than its pieces can have, unless they are no words
MOST_RESULTS = 100
_SPARE = 40  # candidates past the limit: some are not for agents, or wait for a file
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

    kind: str  # event, intent, phrase or name; word, meaning or typo
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
    abilities: Abilities


@dataclass(frozen=True)
class Matches:
    request: Request
    rows: tuple[Match, ...]

    @property
    def none(self) -> bool:
        return not self.rows


@dataclass(frozen=True)
class _Candidate:
    skill: Skill
    tier: Tier
    score: float
    weight: int  # of its words
    asked: tuple[Asked, ...]


def match(request: Request, actor: Actor, *, limit: int = 20) -> Matches:
    """The skills that fit the request, best first; none where even the best is unlikely."""
    utterance = request.utterance[:MOST_CHARACTERS]
    pieces = words.pieces(utterance)[:MOST_PIECES]
    asked = asked_for(utterance, pieces, intent=request.intent, event=request.event, actor=actor)
    scores = lexical.score(concepts(utterance, pieces), actor, Posting.objects.visible_to(actor))
    ranked = _ranked(asked, scores, _allowed(asked, scores, request, actor, limit + _SPARE), limit)
    if not ranked or ranked[0].score < LEAST:
        return Matches(request, ())
    can = abilities([each.skill for each in ranked], actor)
    parts = scores.parts({each.skill.pk for each in ranked})
    rows = (
        Match(each.skill, each.score, each.tier, _reasons(each, parts[each.skill.pk], utterance), can[each.skill.pk])
        for each in ranked
        if each.skill.pk in can
    )
    return Matches(request, tuple(rows))


def _allowed(
    asked: Sequence[Asked], scores: lexical.Scores, request: Request, actor: Actor, most: int
) -> dict[int, Skill]:
    """The best candidates that agents may be offered, and whose files are among the named ones."""
    wanted = {each.skill for each in sorted(asked, key=lambda each: (-each.score, each.skill))[:most]}
    wanted |= set(scores.ranked[:most])
    skills = Skill.objects.visible_to(actor).filter(pk__in=wanted, for_agents=True, latest__isnull=False)
    skills = skills.select_related("team", "latest").defer("latest__manifest", "latest__body", "latest__problems")
    return {skill.pk: skill for skill in skills if _is_open(skill.paths, request.paths)}


def _is_open(patterns: Sequence[str], paths: Collection[str]) -> bool:
    """A skill with patterns is there only where one of the named files fits them."""
    if not patterns:
        return True
    spec = GitIgnoreSpec.from_lines(patterns)
    return any(spec.match_file(path) for path in paths)


def _ranked(
    asked: Iterable[Asked], scores: lexical.Scores, skills: dict[int, Skill], limit: int
) -> list[_Candidate]:
    """By tier, then score with priority; equals by what is used."""
    said: defaultdict[int, list[Asked]] = defaultdict(list)
    for each in asked:
        said[each.skill].append(each)
    now = timezone.now()
    best = max(scores.scores.values(), default=0)
    found = [_candidate(skill, said[key], scores.scores.get(key, 0), best, scores.ideal) for key, skill in skills.items()]

    def order(each: _Candidate) -> tuple[float, ...]:
        used = usage.score(each.skill.usage_count, each.skill.last_used_at, now)
        moved = 1 + _PRIORITY * (each.skill.priority - 0.5)
        return -each.tier, -round(each.score * moved, 9), -each.weight * moved, -used, each.skill.pk

    return sorted(found, key=order)[:limit]


def _candidate(skill: Skill, asked: Sequence[Asked], weight: int, best: int, ideal: int) -> _Candidate:
    likely = confidence(weight, best, ideal)
    if not asked:
        return _Candidate(skill, Tier.LEXICAL, likely, weight, ())
    score = max(each.score for each in asked)
    return _Candidate(skill, Tier.EXPLICIT, max(score, likely), weight, tuple(asked))


def _reasons(found: _Candidate, parts: Sequence[lexical.Part], utterance: str) -> tuple[Reason, ...]:
    """The triggers that were met, or the words that counted, the heaviest first."""
    if found.asked:
        total = sum(each.score for each in found.asked)
        met = sorted(found.asked, key=lambda each: (-each.score, each.kind, each.text))
        return tuple(
            Reason(each.kind, "triggers" if each.kind != "name" else "name", each.text, each.start, each.end, each.score / total)
            for each in met
        )
    total = sum(part.score for part in parts) or 1
    return tuple(
        Reason(
            "word" if part.is_own else "meaning",
            best_field(part.mask),
            utterance[part.concept.start : part.concept.end] if part.is_own else part.term,
            part.concept.start,
            part.concept.end,
            part.score / total,
        )
        for part in parts
    )
