"""The agent listing: skills for an agent's prompt, limited to a share of its context window."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils import timezone

from registry.identity.actors import Actor
from registry.listing import selection as choosing
from registry.listing.budget import ListingEntry, Stage, Truncation, budget_of, entries_within_budget, fit
from registry.listing.listed_skill import ListedSkill, listed_skills
from registry.listing.selection import PlacedSkill, PlaceReason, Selection
from registry.models import Skill

CONTEXT_TOKENS = 200_000


class OmissionReason(StrEnum):
    PATHS = "paths"  # no file in use meets the skill's `paths` condition
    LIMIT = "limit"  # above the requested or maximum number of skills
    BUDGET = "budget"  # its name does not fit into the budget


@dataclass(frozen=True)
class ListingRow:
    """A listed skill: its text, how it was shortened, and why it is listed."""

    listed: ListedSkill
    text: str
    cut: Truncation
    place: PlaceReason
    score: float


@dataclass(frozen=True)
class OmittedSkill:
    skill: Skill
    why: OmissionReason


@dataclass(frozen=True)
class Listing:
    """The listed skills and some of the omitted ones; ``counts`` has the number of all omitted skills by
    reason.
    """

    context_tokens: int
    budget: int  # columns
    width: int  # columns of all lines
    stage: Stage
    rows: tuple[ListingRow, ...]
    omitted: tuple[OmittedSkill, ...]
    counts: dict[OmissionReason, int]

    @property
    def more(self) -> int:
        """The number of skills omitted because of the limit or the budget."""
        return self.counts[OmissionReason.LIMIT] + self.counts[OmissionReason.BUDGET]


def list_skills(
    actor: Actor,
    *,
    context_tokens: int = CONTEXT_TOKENS,
    paths: Collection[str] = (),
    limit: int | None = None,
    now: datetime | None = None,
) -> Listing:
    """The listing of the skills recommendable to the actor: bundled ones first, then by descending usage
    score. ``paths`` are the files that the agent works on; ``limit`` is the maximum number of skills.
    """
    budget = budget_of(context_tokens)
    max_places = min(limit or choosing.MAX_PLACES, choosing.MAX_PLACES)
    now = now or timezone.now()
    selection = choosing.select_skills(actor, paths, limit=max_places, now=now, is_reporting=True)
    placed = (each.skill for each in selection.placed)
    listed = listed_skills(placed, selection.pinned, selection.shared_slugs)
    entries = {_entry(listed[each.skill.pk], each): each for each in selection.placed}
    fitting = sorted(entries_within_budget(tuple(entries), budget), key=lambda entry: _order(entries[entry]))
    fitted = fit(fitting, budget)
    over_budget = len(selection.placed) - len(fitting)
    none_is_named = over_budget and all(entry.is_bundled for entry in fitting)
    rows = zip((entries[entry] for entry in fitting), fitted.entries, strict=True)
    return Listing(
        context_tokens,
        budget,
        fitted.width,
        Stage.NAMES if none_is_named else fitted.stage,
        tuple(
            ListingRow(listed[each.skill.pk], entry.text, entry.cut, each.place, each.score)
            for each, entry in rows
        ),
        tuple(_omitted_skills(selection, {entries[entry].skill.pk for entry in fitting})),
        {
            OmissionReason.PATHS: selection.unmatched_count,
            OmissionReason.LIMIT: selection.total - len(selection.placed),
            OmissionReason.BUDGET: over_budget,
        },
    )


def _entry(listed: ListedSkill, placed: PlacedSkill) -> ListingEntry:
    return ListingEntry(listed.label, listed.text, placed.place is PlaceReason.BUNDLED)


def _order(placed: PlacedSkill) -> tuple[bool, float, str]:
    return placed.place is not PlaceReason.BUNDLED, -placed.score, str(placed.skill)


def _omitted_skills(selection: Selection, listed: Collection[int]) -> Iterable[OmittedSkill]:
    placed = {each.skill.pk for each in selection.placed}
    for skill in selection.without_place(listed):
        yield OmittedSkill(skill, OmissionReason.BUDGET if skill.pk in placed else OmissionReason.LIMIT)
    for skill in selection.unmatched:
        yield OmittedSkill(skill, OmissionReason.PATHS)
