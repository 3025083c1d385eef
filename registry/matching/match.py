"""Ranks the skills that fit a request, with reasons: explicit triggers first, then text relevance.

A match uses only data that the actor may see, so other teams' private skills never change its results.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from registry.core import search_terms
from registry.core.search_terms import TextToken
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.index.skill_rows import RankFields, load_skills, rank_fields
from registry.listing.listed_skill import load_pins, pin_keys, pinned_manifest
from registry.matching import lexical
from registry.matching.explicit import TriggerHit, explicit_matches, trigger_prefixes
from registry.matching.pinned_skills import PinnedSkills
from registry.matching.query import MAX_TOKENS, Concept, concepts, glossary_word
from registry.matching.ranking import (
    MIN_CONFIDENCE,
    Candidate,
    MatchTier,
    RankedCandidate,
    RequestTraits,
    clamp_priority,
    rank_candidates,
)
from registry.matching.sentences import (
    has_everyday_word,
    has_technical_word,
    negated_offsets,
    sentence_form,
    wording,
)
from registry.models import Canonical, Skill
from registry.packages import path_conditions
from registry.search import sql
from registry.search.glossary import lines as glossary
from registry.search.query import Filters, best_field, catalog_filter

MAX_UTTERANCE_CHARACTERS = 6_000  # more than MAX_TOKENS ordinary words have
_EXTRA_CANDIDATES = 20  # candidates above the limit, because `paths` excludes some
_MAX_KEYWORDS = 2  # more words are probably a sentence
_TRIGGER_FIELDS = {"event": "event_types", "intent": "intents", "phrase": "phrases", "name": "name"}


@dataclass(frozen=True)
class MatchQuery:
    """A request to match. Every part may be empty."""

    utterance: str = ""
    intent: str = ""
    event: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatchReason:
    """A reason for a match: position in the utterance, field, and share of the score."""

    kind: str  # event, intent, phrase, name, word or meaning
    field: str
    text: str
    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Match:
    skill: Skill
    score: float  # the probability, 0 to 1, that this skill is the right one
    tier: MatchTier
    reasons: tuple[MatchReason, ...]


@dataclass(frozen=True)
class MatchResult:
    request: MatchQuery
    rows: tuple[Match, ...]
    near: tuple[Match, ...] = ()  # the best skills if none is likely enough; with filters only

    @property
    def none(self) -> bool:
        return not self.rows


@reader
def match(
    request: MatchQuery, actor: Actor, *, limit: int = 20, filters: Filters | None = None
) -> Reads[MatchResult]:
    """At most ``limit`` skills that fit the request, best first. Empty if the best score is below
    ``MIN_CONFIDENCE``.

    Without ``filters``, only skills recommended to the actor's agents can match. With ``filters``, all
    visible skills that meet them can, and if none is likely enough, the best ones are in ``near``.
    """
    utterance = request.utterance[:MAX_UTTERANCE_CHARACTERS]
    tokens = search_terms.text_tokens(utterance, limit=MAX_TOKENS)
    glossary_index, prefixes, (sql_filter, pinned) = yield from gather(
        glossary.load_glossary.reads(), trigger_prefixes.reads(tokens), _eligible(actor, filters)
    )
    negated = negated_offsets(utterance, tokens)
    wanted = [each for each in concepts(utterance, tokens, glossary_index) if each.start not in negated]
    found, scores = yield from gather(
        explicit_matches.reads(
            utterance,
            tokens,
            prefixes,
            pinned,
            intent=request.intent,
            event=request.event,
            actor=actor,
            sql_filter=sql_filter,
        ),
        lexical.score_concepts.reads(wanted, glossary_index, actor, sql_filter, pinned),
    )
    hits = [each for each in found if _counts(each, negated, filters)]
    best = _best_candidates(hits, scores, limit + _EXTRA_CANDIDATES)
    skills, pins = yield from gather(load_skills.reads(best), load_pins.reads(pinned.keys, best))
    pins |= {each.skill: each.pin for each in hits if each.pin}
    traits = RequestTraits(
        sentence_form(utterance, is_keywords=_is_keywords(tokens, wanted)),
        is_technical=has_technical_word(utterance),
        is_everyday=has_everyday_word(utterance),
        glossary_concepts=sum(concept.key in glossary_index for concept in scores.concepts),
        wording=wording(tokens),
    )
    ranked = rank_candidates(hits, scores, _candidates(skills, request, pins), traits=traits)[:limit]
    is_none = not ranked or ranked[0].score < MIN_CONFIDENCE
    if not ranked or (is_none and filters is None):
        return MatchResult(request, ())
    reasons = _reasons(ranked, hits, scores, glossary_index)
    for key, skill in skills.items():
        skill.resolved_canonical = pins.get(key)
    rows = tuple(Match(skills[each.skill], each.score, each.tier, reasons[each.skill]) for each in ranked)
    return MatchResult(request, (), rows) if is_none else MatchResult(request, rows)


def _eligible(actor: Actor, filters: Filters | None) -> Reads[tuple[sql.SqlFilter, PinnedSkills]]:
    """The filter for skills that can match, and the skills that match by their pinned version."""
    if filters is not None:
        return catalog_filter(actor, filters), PinnedSkills({})
    sql_filter, keys = yield from gather(sql.recommendable_filter.reads(actor), pin_keys.reads(actor))
    return sql_filter, PinnedSkills(keys)


def _counts(hit: TriggerHit, negated: Collection[int], filters: Filters | None) -> bool:
    """Whether the hit is not negated and, with filters, not of a pinned version."""
    return (not hit.end or hit.start not in negated) and not (filters and hit.pin)


def _is_keywords(tokens: Sequence[TextToken], wanted: Sequence[Concept]) -> bool:
    """Whether each word of the utterance belongs to one of at most ``_MAX_KEYWORDS`` concepts."""
    words = [concept for concept in wanted if not concept.is_phrase]
    if len(words) > _MAX_KEYWORDS:
        return False
    return all(any(one.start <= token.start < one.end for one in words) for token in tokens)


def _best_candidates(hits: Sequence[TriggerHit], scores: lexical.LexicalScores, limit: int) -> list[int]:
    ordered = sorted(hits, key=lambda each: (-each.score, each.skill))
    return sorted({each.skill for each in ordered[:limit]} | set(scores.best(limit)))


def _candidates(
    skills: Mapping[int, Skill], request: MatchQuery, pins: Mapping[int, Canonical]
) -> list[Candidate]:
    """The candidates among the skills: those whose `paths` condition is met, by id."""
    found = (_resolve_pin(rank_fields(skills[key]), pins.get(key)) for key in sorted(skills))
    return [each for each in found if path_conditions.any_file_matches(each.paths, request.paths)]


def _resolve_pin(row: RankFields, pin: Canonical | None) -> Candidate:
    """The candidate for a row, with paths and priority of the pinned version if the skill is canonical."""
    if not pin:
        return Candidate(row, row.paths, row.priority)
    manifest = pinned_manifest(pin)
    return Candidate(row, manifest.paths, manifest.triggers.priority)


def priority_of(skill: Skill) -> float:
    """The priority, from 0 to 1: the pinned version's if ``resolved_canonical`` is set, otherwise the latest
    version's.
    """
    return clamp_priority(
        pinned_manifest(skill.resolved_canonical).triggers.priority
        if skill.resolved_canonical
        else skill.priority
    )


def _reasons(
    ranked: Sequence[RankedCandidate],
    hits: Sequence[TriggerHit],
    scores: lexical.LexicalScores,
    glossary_index: glossary.GlossaryIndex,
) -> dict[int, tuple[MatchReason, ...]]:
    """The reasons by skill id, largest share first: trigger hits, or the matched words if there are none."""
    met: defaultdict[int, list[TriggerHit]] = defaultdict(list)
    for each in sorted(hits, key=lambda each: (-each.score, each.kind, each.text)):
        met[each.skill].append(each)
    parts = scores.parts({each.skill for each in ranked if each.tier is MatchTier.LEXICAL})
    return {
        each.skill: _trigger_reasons(met[each.skill])
        if met[each.skill]
        else _word_reasons(parts[each.skill], glossary_index)
        for each in ranked
    }


def _trigger_reasons(hits: Sequence[TriggerHit]) -> tuple[MatchReason, ...]:
    total = sum(each.score for each in hits)
    return tuple(
        MatchReason(
            each.kind, _TRIGGER_FIELDS[each.kind], each.text, each.start, each.end, each.score / total
        )
        for each in hits
    )


def _word_reasons(
    parts: Sequence[lexical.ScorePart], glossary_index: glossary.GlossaryIndex
) -> tuple[MatchReason, ...]:
    total = sum(part.score for part in parts) or 1
    return tuple(
        MatchReason(
            "word" if part.is_own else "meaning",
            best_field(part.mask),
            part.concept.text if part.is_own else glossary_word(part.concept, part.term, glossary_index),
            part.concept.start,
            part.concept.end,
            part.score / total,
        )
        for part in parts
    )
