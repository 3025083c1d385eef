"""Presents catalog entries: match reasons, score, last runs and the corrected query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from portal.pages.catalog.forms import CatalogQuery
from portal.pages.match.presenters import match_rows
from portal.presenters.skill.strip import LENGTH, strip_of
from registry.core import search_terms
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.matching.match import Match, MatchQuery, MatchReason, MatchResult, match
from registry.matching.sentences import is_sentence
from registry.models import Skill
from registry.search.query import Hit, SearchReason, SearchResult
from registry.usage import scores
from worker.models import Run
from worker.run_views.sql import last_run_ids

_MATCHES = 4  # number of matches shown: the best one, and similar ones if the search finds nothing


@dataclass(frozen=True)
class MatcherAnswer:
    """The matcher's answer to a sentence, or to a search without hits."""

    is_asked: bool = False
    found: MatchResult | None = None  # with the best match only
    row: dict[str, Any] | None = None  # the best match, for ``match/result.html``
    near: tuple[Match, ...] = ()  # similar skills: the next ones, or all if none fits

    @property
    def matches(self) -> tuple[Match, ...]:
        return (*(self.found.rows if self.found else ()), *self.near)

    @property
    def near_skills(self) -> list[Skill]:
        return [row.skill for row in self.near]


@reader
def facts_of(
    skills: Iterable[Skill], hits: Iterable[Hit | Match], actor: Actor
) -> Reads[dict[int, dict[str, Any]]]:
    """Maps each skill's primary key to a dict with its score, strip of last runs, and match reasons.

    ``strip`` has the visible runs among the skill's last 30 runs.
    """
    why, skills = {hit.skill.pk: hit.reasons for hit in hits}, list(skills)
    runs = yield from _last_runs([skill.pk for skill in skills], actor)
    return {skill.pk: _facts(skill, why, runs[skill.pk]) for skill in skills}


def needs_matcher(query: CatalogQuery, found: SearchResult) -> bool:
    """Whether the matcher should answer too: for a sentence, or because the search found nothing."""
    return bool(query.q) and (found.none or is_sentence(query.q))


def ask_matcher(query: CatalogQuery, actor: Actor) -> MatcherAnswer:
    """The matcher's answer under the query's filters."""
    found = match(MatchQuery(query.q), actor, limit=_MATCHES, filters=query.filters)
    if found.none:
        return MatcherAnswer(is_asked=True, near=found.near)
    best = MatchResult(found.request, found.rows[:1])
    return MatcherAnswer(True, best, match_rows(best, actor)[0], found.rows[1:])


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
    skill: Skill, why: Mapping[int, tuple[SearchReason | MatchReason, ...]], runs: Iterable[Run]
) -> dict[str, Any]:
    score = scores.score(skill.usage_count, skill.last_used_at, timezone.now())
    reasons = {(reason.text, reason.field): reason for reason in why.get(skill.pk, ())}
    return {
        "score": f"{score:.1f}",
        "strip": strip_of(runs),
        "reasons": tuple(reasons.values()),
    }


def _last_runs(skills: Sequence[int], actor: Actor) -> Reads[Mapping[int, list[Run]]]:
    """Maps each skill's primary key to the runs among its last 30 that the actor can see, newest first."""
    found: defaultdict[int, list[Run]] = defaultdict(list)
    if actor.is_signed_in and skills:
        runs = Run.objects.visible_to(actor).filter(pk__in=last_run_ids(skills, LENGTH))
        runs = runs.only("skill_id", "status", "created_at")
        yield (newest := runs.order_by("-pk"))
        for run in newest:
            found[run.skill_id or 0].append(run)
    return found


def _closest_word(wrong: str, skill: Skill) -> str:
    """The first word of the skill's name, slug or tags that ``wrong`` misspells, otherwise ``wrong``."""
    near = search_terms.typo_keys(wrong.lower())
    called = (
        word.text for text in (skill.name, skill.slug, *skill.tags) for word in search_terms.query_words(text)
    )
    return next((text for text in called if near & search_terms.typo_keys(text.lower())), wrong)
