"""Presents catalog entries: match reasons, score and success rate."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from registry.core import search_terms
from registry.identity.actors import Actor
from registry.models import Skill
from registry.search.query import Hit, SearchReason, SearchResult
from registry.usage import scores
from worker.models import Run, RunStatus
from worker.queue.states import ENDED

RUNS = 50  # newest runs of a skill that count for its success rate


def facts_of(skills: Iterable[Skill], hits: Iterable[Hit], actor: Actor) -> dict[int, dict[str, Any]]:
    """Score, ended runs, their success rate in percent, and match reasons, by the skill's primary key."""
    why = {hit.skill.pk: hit.reasons for hit in hits}
    return {skill.pk: _facts(skill, why, actor) for skill in skills}


def corrected_query(found: SearchResult) -> str:
    """The query with misspellings corrected by names and tags of the hits; "" if nothing was corrected."""
    corrections: dict[tuple[int, int], str] = {}
    for hit in found.hits:
        for reason in hit.reasons:
            if reason.kind == "typo" and (reason.start, reason.end) not in corrections:
                corrections[reason.start, reason.end] = _closest_word(reason.text, hit.skill)
    text = found.query
    for (start, end), right in sorted(corrections.items(), reverse=True):
        text = text[:start] + right + text[end:]
    return text if text != found.query else ""


def _facts(skill: Skill, why: Mapping[int, tuple[SearchReason, ...]], actor: Actor) -> dict[str, Any]:
    score = scores.score(skill.usage_count, skill.last_used_at, timezone.now())
    runs, succeeded = _count_ended(skill, actor) if skill.usage_count else (0, 0)
    rate = round(100 * succeeded / runs) if runs else 0
    reasons = {(reason.text, reason.field): reason for reason in why.get(skill.pk, ())}
    return {"score": f"{score:.1f}", "runs": runs, "rate": rate, "reasons": tuple(reasons.values())}


def _count_ended(skill: Skill, actor: Actor) -> tuple[int, int]:
    """How many of the newest runs are visible and have ended, and how many of those succeeded."""
    newest = Run.objects.filter(skill=skill).order_by("-pk").values("pk")[:RUNS]
    ended = Run.objects.visible_to(actor).filter(pk__in=newest, status__in=ENDED)
    counts = ended.aggregate(runs=Count("pk"), well=Count("pk", filter=Q(status=RunStatus.SUCCEEDED)))
    return counts["runs"], counts["well"]


def _closest_word(wrong: str, skill: Skill) -> str:
    """The word of the skill's name or tags that ``wrong`` misspells, otherwise ``wrong``."""
    near = search_terms.typo_keys(wrong.lower())
    called = (
        word.text for text in (skill.name, skill.slug, *skill.tags) for word in search_terms.query_words(text)
    )
    return next((text for text in called if near & search_terms.typo_keys(text.lower())), wrong)
