"""What an agent is told of the skills that it may use, within what its context has room for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils import timezone

from registry.actors import Actor
from registry.listing import choosing
from registry.listing.choosing import Choice, Place, Placed
from registry.listing.fitting import Cut, Entry, Stage, budget_of, fit, named_within
from registry.listing.offering import Offer, offers
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

    offer: Offer
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
    choice = choosing.choose(reachable, actor, paths, most=most, now=now or timezone.now())
    offered = offers((each.skill for each in choice.placed), actor, reachable)
    entries = {_entry(offered[each.skill.pk], each): each for each in choice.placed}
    kept = sorted(named_within(tuple(entries), budget), key=lambda entry: _order(entries[entry]))
    fitted = fit(kept, budget)
    without_room = len(choice.placed) - len(kept)
    none_is_named = without_room and all(entry.is_bundled for entry in kept)
    rows = zip((entries[entry] for entry in kept), fitted.entries, strict=True)
    return Listing(
        context_tokens,
        budget,
        fitted.width,
        Stage.NAMES if none_is_named else fitted.stage,
        tuple(
            Row(offered[each.skill.pk], entry.text, entry.cut, each.place, each.score) for each, entry in rows
        ),
        tuple(_left_out(choice, {entries[entry].skill.pk for entry in kept})),
        {
            Why.PATHS: choice.waiting_count,
            Why.LIMIT: choice.total - len(choice.placed),
            Why.BUDGET: without_room,
        },
    )


def _entry(offer: Offer, placed: Placed) -> Entry:
    return Entry(offer.name, offer.text, placed.place is Place.BUNDLED)


def _order(placed: Placed) -> tuple[bool, float, str]:
    return placed.place is not Place.BUNDLED, -placed.score, str(placed.skill)


def _left_out(choice: Choice, listed: Collection[int]) -> Iterable[LeftOut]:
    had_a_place = {each.skill.pk for each in choice.placed}
    for skill in choice.without_place(listed):
        yield LeftOut(skill, Why.BUDGET if skill.pk in had_a_place else Why.LIMIT)
    for skill in choice.waiting:
        yield LeftOut(skill, Why.PATHS)
