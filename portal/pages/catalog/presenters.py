"""Presents catalog entries: match reasons, score, last runs and the corrected query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from portal.pages.catalog.forms import CatalogQuery
from portal.presenters.skill.strip import LENGTH, strip_of
from registry.core import search_terms
from registry.identity.actors import Actor
from registry.matching.match import Match, MatchQuery, MatchReason, match
from registry.models import Skill
from registry.search.query import Hit, SearchReason, SearchResult
from registry.usage import scores
from worker.models import Run
from worker.run_views.sql import last_run_ids

NEAR = 3  # number of matches shown if the search finds nothing
_BEYOND_WORDS = {"event", "intent", "phrase", "meaning"}  # reasons that don't affect the order of a search


def facts_of(skills: Iterable[Skill], hits: Iterable[Hit | Match], actor: Actor) -> dict[int, dict[str, Any]]:
    """Maps each skill's primary key to a dict with its score, strip of last runs, and match reasons.

    ``strip`` has the visible runs among the skill's last 30 runs.
    """
    why, skills = {hit.skill.pk: hit.reasons for hit in hits}, list(skills)
    runs = _last_runs([skill.pk for skill in skills], actor)
    return {skill.pk: _facts(skill, why, runs[skill.pk]) for skill in skills}


def best_matches(query: CatalogQuery, found: SearchResult, actor: Actor) -> list[Match]:
    """The best match of the query under the filters, or up to three if the search found nothing.

    Empty if the search lists the best match first, or if that match was found only by words of the query.
    """
    rows = match(MatchQuery(query.q), actor, limit=NEAR).rows if query.q else ()
    skills = query.filters.narrow(Skill.objects.filter(pk__in=[row.skill.pk for row in rows]))
    wanted = set(skills.values_list("pk", flat=True)) if rows else set()
    best = [row for row in rows if row.skill.pk in wanted]
    if not found.hits:
        return best
    return [
        row
        for row in best[:1]
        if row.skill.pk != found.hits[0].skill.pk
        and any(reason.kind in _BEYOND_WORDS for reason in row.reasons)
    ]


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


def _last_runs(skills: Sequence[int], actor: Actor) -> Mapping[int, list[Run]]:
    """Maps each skill's primary key to the runs among its last 30 that the actor can see, newest first."""
    found: defaultdict[int, list[Run]] = defaultdict(list)
    if actor.is_signed_in and skills:
        keys = last_run_ids(skills, LENGTH)
        runs = Run.objects.visible_to(actor).filter(pk__in=keys).only("skill_id", "status", "created_at")
        for run in runs.order_by("-pk"):
            found[run.skill_id or 0].append(run)
    return found


def _closest_word(wrong: str, skill: Skill) -> str:
    """The first word of the skill's name, slug or tags that ``wrong`` misspells, otherwise ``wrong``."""
    near = search_terms.typo_keys(wrong.lower())
    called = (
        word.text for text in (skill.name, skill.slug, *skill.tags) for word in search_terms.query_words(text)
    )
    return next((text for text in called if near & search_terms.typo_keys(text.lower())), wrong)
