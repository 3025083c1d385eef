"""Presents catalog entries: match reasons, score, last runs and the corrected query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from portal.pages.catalog.forms import CatalogQuery
from portal.pages.match.presenters import match_rows
from portal.presenters.reasons import RowReason
from portal.presenters.skill.strip import LENGTH, strip_of_outcomes
from registry.core import search_terms
from registry.core.sql import Reads, gather, padded, prepared, reader
from registry.identity.actors import Actor
from registry.matching.match import Match, MatchQuery, MatchReason, MatchResult, match
from registry.matching.sentences import is_sentence
from registry.models import Skill
from registry.search.query import Hit, SearchReason, SearchResult
from registry.usage import scores
from worker.models import Run
from worker.run_views.sql import last_run_ids

_Outcome = tuple[str, datetime]  # status and time of a run
_MATCHES = 4  # number of matches shown: the best one, and similar ones if the search finds nothing


@dataclass(frozen=True)
class MatcherAnswer:
    """The matcher's answer to a sentence, or to a search without hits."""

    is_asked: bool = False
    found: MatchResult | None = None  # with the best match only
    near: tuple[Match, ...] = ()  # similar skills: the next ones, or all if none fits

    @property
    def matches(self) -> tuple[Match, ...]:
        return (*(self.found.rows if self.found else ()), *self.near)

    @property
    def near_skills(self) -> list[Skill]:
        return [row.skill for row in self.near]


@reader
def facts_of(
    skills: Iterable[Skill], hits: Iterable[Hit | Match], actor: Actor, sentence: str = ""
) -> Reads[dict[int, dict[str, Any]]]:
    """Maps each skill's primary key to a dict with its score, strip of last runs, and match reasons, whose
    positions are those in ``sentence``.

    ``strip`` has the visible runs among the skill's last 30 runs; it is None without runs.
    """
    why, skills = {hit.skill.pk: hit.reasons for hit in hits}, list(skills)
    runs = yield from _last_runs([skill.pk for skill in skills], actor)
    now = timezone.now()
    return {
        skill.pk: _facts(skill, _row_reasons(skill, why.get(skill.pk, ()), sentence), runs[skill.pk], now)
        for skill in skills
    }


@reader
def load_with_facts(
    keys: Sequence[int], actor: Actor
) -> Reads[tuple[list[Skill], dict[int, dict[str, Any]]]]:
    """The skills with these primary keys, as ``load_listed`` does, and their facts, as ``facts_of`` does."""
    skills, runs = yield from gather(scores.load_listed.reads(keys), _last_runs(keys, actor))
    now = timezone.now()
    return skills, {skill.pk: _facts(skill, (), runs[skill.pk], now) for skill in skills}


def needs_matcher(query: CatalogQuery, found: SearchResult) -> bool:
    """Whether the matcher should answer too: for a sentence, or because the search found nothing."""
    return bool(query.q) and (found.none or is_sentence(query.q))


@reader
def ask_matcher(query: CatalogQuery, actor: Actor) -> Reads[MatcherAnswer]:
    """The matcher's answer under the query's filters."""
    found = yield from match.reads(MatchQuery(query.q), actor, limit=_MATCHES, filters=query.filters)
    if found.none:
        return MatcherAnswer(is_asked=True, near=found.near)
    best = MatchResult(found.request, found.rows[:1])
    return MatcherAnswer(True, best, found.rows[1:])


@reader
def best_match(answer: MatcherAnswer, actor: Actor) -> Reads[dict[str, Any] | None]:
    """The best match, for ``match/result.html``."""
    rows = (yield from match_rows.reads(answer.found, actor)) if answer.found else []
    return next(iter(rows), None)


def corrected_query(found: SearchResult) -> str:
    """The query with each misspelled word replaced by one from the hits' names and tags; "" if no word is
    misspelled.
    """
    corrections: dict[tuple[int, int], str] = {}
    for hit in found.hits:
        for reason in hit.reasons:
            if reason.kind == "typo" and (reason.start, reason.end) not in corrections:
                corrections[reason.start, reason.end] = _closest_word(reason.text, hit.skill)
    text = found.query
    for (start, end), right in sorted(corrections.items(), reverse=True):
        text = text[:start] + right + text[end:]
    return text if text != found.query else ""


def _facts(
    skill: Skill, reasons: tuple[RowReason, ...], runs: Sequence[_Outcome], now: datetime
) -> dict[str, Any]:
    score = scores.score(skill.usage_count, skill.last_used_at, now)
    return {
        "score": f"{score:.1f}",
        "strip": strip_of_outcomes(runs) if runs else None,
        "reasons": reasons,
    }


def _row_reasons(
    skill: Skill, why: Iterable[SearchReason | MatchReason], sentence: str
) -> tuple[RowReason, ...]:
    """The reasons without repetitions: the user's words, and the skill's word if it is another one."""
    found: dict[RowReason, None] = {}
    for reason in why:
        text, meant = reason.text, ""
        if reason.kind == "meaning":
            text, meant = sentence[reason.start : reason.end], reason.text
        elif reason.kind == "typo":
            meant = _closest_word(text, skill)
        found[RowReason(reason.field, text, meant if meant != text else "")] = None
    return tuple(found)


def _last_runs(skills: Sequence[int], actor: Actor) -> Reads[Mapping[int, list[_Outcome]]]:
    """Maps each skill's primary key to status and time of the runs among its last 30 that the actor can see,
    newest first.
    """
    found: defaultdict[int, list[_Outcome]] = defaultdict(list)
    if actor.is_signed_in and skills:
        yield (newest := _runs_of(actor, *padded(skills)))
        for skill, status, at in newest:
            found[skill].append((status, at))
    return found


@prepared
def _runs_of(actor: Actor, *skills: int) -> QuerySet[Run, tuple[int, str, datetime]]:
    runs = Run.objects.visible_to(actor).filter(pk__in=last_run_ids(skills, LENGTH))
    return runs.order_by("-pk").values_list("skill_id", "status", "created_at")


def _closest_word(wrong: str, skill: Skill) -> str:
    """The first word of the skill's name, slug or tags that ``wrong`` misspells, otherwise ``wrong``."""
    near = search_terms.typo_keys(wrong.lower())
    called = (
        word.text for text in (skill.name, skill.slug, *skill.tags) for word in search_terms.query_words(text)
    )
    return next((text for text in called if near & search_terms.typo_keys(text.lower())), wrong)
