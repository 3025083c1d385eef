"""What the catalog says of a skill beside the row itself: why it was found, its score, how its runs ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from registry import usage, words
from registry.actors import Actor
from registry.models import Skill
from registry.search import Hit, Reason, Search
from worker.models import Run, Status
from worker.states import ENDED

RUNS = 50  # the newest ones of a skill, of which its rate is made


@dataclass(frozen=True)
class Facts:
    score: str
    runs: int  # that ended, of the newest ones that the reader may know of
    rate: int  # per cent of them that succeeded
    reasons: tuple[Reason, ...]


def facts_of(skills: Iterable[Skill], hits: Iterable[Hit], actor: Actor) -> dict[int, Facts]:
    """By the skill's key."""
    why = {hit.skill.pk: hit.reasons for hit in hits}
    return {skill.pk: _facts(skill, why, actor) for skill in skills}


def corrected(found: Search) -> str:
    """The query with its slips mended, as the names and tags that were found write them; else empty."""
    mended: dict[tuple[int, int], str] = {}
    for hit in found.hits:
        for reason in hit.reasons:
            if reason.kind == "typo" and (reason.start, reason.end) not in mended:
                mended[reason.start, reason.end] = _meant(reason.text, hit.skill)
    text = found.query
    for (start, end), right in sorted(mended.items(), reverse=True):
        text = text[:start] + right + text[end:]
    return text if text != found.query else ""


def _facts(skill: Skill, why: Mapping[int, tuple[Reason, ...]], actor: Actor) -> Facts:
    score = usage.score(skill.usage_count, skill.last_used_at, timezone.now())
    runs, succeeded = _ended(skill, actor) if skill.usage_count else (0, 0)
    rate = round(100 * succeeded / runs) if runs else 0
    reasons = {(reason.text, reason.field): reason for reason in why.get(skill.pk, ())}
    return Facts(f"{score:.1f}", runs, rate, tuple(reasons.values()))


def _ended(skill: Skill, actor: Actor) -> tuple[int, int]:
    """How many of the newest runs ended, and how many of those well."""
    newest = Run.objects.filter(skill=skill).order_by("-pk").values("pk")[:RUNS]
    ended = Run.objects.visible_to(actor).filter(pk__in=newest, status__in=ENDED)
    counts = ended.aggregate(runs=Count("pk"), well=Count("pk", filter=Q(status=Status.SUCCEEDED)))
    return counts["runs"], counts["well"]


def _meant(wrong: str, skill: Skill) -> str:
    """The word of the skill's name or tags that is a slip away."""
    near = words.misspellings(wrong.lower())
    called = (word.text for text in (skill.name, skill.slug, *skill.tags) for word in words.query_words(text))
    return next((text for text in called if near & words.misspellings(text.lower())), wrong)
