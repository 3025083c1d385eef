"""What an agent is told of the skills that it may use, within what its context has room for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Count, QuerySet
from django.utils import timezone

from registry.actors import Actor
from registry.listing import choosing
from registry.listing.choosing import Choice, Place, Placed
from registry.listing.fitting import Cut, Entry, Stage, budget_of, fit, named_within
from registry.listing.plain import one_line
from registry.models import Skill

CONTEXT_TOKENS = 200_000


class Why(StrEnum):
    """Why a skill is left out."""

    PATHS = "paths"  # none of the named files fits its condition
    LIMIT = "limit"  # so many were asked for, or may be listed
    BUDGET = "budget"  # not even the names have room


@dataclass(frozen=True)
class Row:
    """A skill that is listed: as what, with how much of its text, and why it has a place."""

    skill: Skill
    name: str
    text: str
    cut: Cut
    place: Place
    score: float


@dataclass(frozen=True)
class LeftOut:
    skill: Skill
    why: Why


@dataclass(frozen=True)
class Listing:
    """``left_out`` names the first of those that are not listed, ``counts`` counts them all by why."""

    context_tokens: int
    budget: int  # columns
    width: int  # of all lines together
    stage: Stage
    rows: tuple[Row, ...]
    left_out: tuple[LeftOut, ...]
    counts: dict[Why, int]

    @property
    def more(self) -> int:
        """How many would be listed too, had they a place."""
        return self.counts[Why.LIMIT] + self.counts[Why.BUDGET]


def list_skills(
    actor: Actor,
    *,
    context_tokens: int = CONTEXT_TOKENS,
    paths: Collection[str] = (),
    limit: int | None = None,
    now: datetime | None = None,
) -> Listing:
    """The skills that the actor's agents are offered, bundled ones first, then the most used."""
    reachable, budget = Skill.objects.reachable_by(actor), budget_of(context_tokens)
    most = min(limit or choosing.MOST, choosing.MOST)
    choice = choosing.choose(reachable, paths, most=most, now=now or timezone.now())
    entries = _entries(choice.placed, reachable)
    kept = named_within(tuple(entries), budget)
    placed = sorted((entries[entry] for entry in kept), key=_order)
    named = {placed.skill.pk: entry for entry, placed in entries.items()}
    fitted = fit([named[each.skill.pk] for each in placed], budget)
    return Listing(
        context_tokens,
        budget,
        fitted.width,
        fitted.stage,
        tuple(
            Row(each.skill, entry.name, entry.text, entry.cut, each.place, each.score)
            for each, entry in zip(placed, fitted.entries, strict=True)
        ),
        tuple(_left_out(choice, {each.skill.pk for each in placed})),
        {
            Why.PATHS: choice.waiting_count,
            Why.LIMIT: choice.total - len(choice.placed),
            Why.BUDGET: len(choice.placed) - len(placed),
        },
    )


def text_of(skill: Skill) -> str:
    """What the skill says of itself, in one line."""
    said = (one_line(skill.description), one_line(skill.when_to_use))
    return " - ".join(part for part in said if part)


def names_of(skills: Iterable[Skill], reachable: QuerySet[Skill]) -> dict[int, str]:
    """What each is called by: its slug, or team/slug where the agent could mean another by that."""
    named = list(skills)
    same = reachable.filter(slug__in={skill.slug for skill in named}).order_by().values("slug")
    shared = set(same.annotate(count=Count("pk")).filter(count__gt=1).values_list("slug", flat=True))
    return {skill.pk: str(skill) if skill.slug in shared else skill.slug for skill in named}


def _entries(placed: Sequence[Placed], reachable: QuerySet[Skill]) -> dict[Entry, Placed]:
    names = names_of((each.skill for each in placed), reachable)
    return {
        Entry(names[each.skill.pk], text_of(each.skill), each.place is Place.BUNDLED): each for each in placed
    }


def _order(placed: Placed) -> tuple[bool, float, str]:
    return placed.place is not Place.BUNDLED, -placed.score, str(placed.skill)


def _left_out(choice: Choice, listed: Collection[int]) -> Iterable[LeftOut]:
    had_a_place = {each.skill.pk for each in choice.placed}
    for skill in choice.without_place(listed):
        yield LeftOut(skill, Why.BUDGET if skill.pk in had_a_place else Why.LIMIT)
    for skill in choice.waiting:
        yield LeftOut(skill, Why.PATHS)
