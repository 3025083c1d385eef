"""Fits the texts of listed skills into a budget: in full, shortened to equal shares, or names only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from registry.core.prompt_text import ELLIPSIS, truncate, width

MAX_TEXT_CHARACTERS = 250  # per text
MIN_TEXT_COLUMNS = 20  # shorter texts are useless, so only names are listed
_OTHERS_DIVISOR = 4  # a quarter of the budget is reserved for skills that are not bundled


class Stage(StrEnum):
    FULL = "full"
    SHARED = "shared"
    NAMES = "names"


class Truncation(StrEnum):
    NONE = "none"
    LONG = "length"  # the text exceeded the maximum
    SHARE = "share"  # shortened to an equal share of the budget
    NAME = "name"  # the text is omitted; only the name is listed


@dataclass(frozen=True)
class ListingEntry:
    name: str
    text: str
    is_bundled: bool = False
    cut: Truncation = Truncation.NONE

    @property
    def line(self) -> str:
        return f"- {self.name}: {self.text}" if self.text else f"- {self.name}"


@dataclass(frozen=True)
class FittedEntries:
    stage: Stage
    entries: tuple[ListingEntry, ...]

    @property
    def width(self) -> int:
        return _total_width(self.entries)


def budget_of(context_tokens: int) -> int:
    """The budget in columns: one hundredth of a context window, at four columns per token."""
    return context_tokens * 4 // 100


def fit(entries: Sequence[ListingEntry], budget: int) -> FittedEntries:
    """The entries in the same order, with as much text as fits. Bundled entries keep all of their text.

    Other texts are cut to ``MAX_TEXT_CHARACTERS``, or to equal shares of the budget if that is too much. If
    the shares are too small, these texts are omitted.
    """
    capped = tuple(entry if entry.is_bundled else _cap(entry) for entry in entries)
    others = [entry for entry in capped if not entry.is_bundled]
    if _total_width(capped) <= budget or not others:
        return FittedEntries(Stage.FULL, capped)
    room = budget - _bundled_width(capped) - sum(width(entry.name) + 4 for entry in others)
    share = (room - (len(others) - 1)) // len(others)
    if share < MIN_TEXT_COLUMNS:
        return FittedEntries(
            Stage.NAMES, tuple(entry if entry.is_bundled else _name_only(entry) for entry in capped)
        )
    return FittedEntries(
        Stage.SHARED,
        tuple(entry if entry.is_bundled else _truncate_to_share(entry, share) for entry in capped),
    )


def entries_within_budget(entries: Sequence[ListingEntry], budget: int) -> tuple[ListingEntry, ...]:
    """All bundled entries, and the first others whose names fit. ``entries`` are in order of priority.

    Bundled entries may exceed the budget. A quarter of the budget is always reserved for other entries.
    """
    # One more column, because the last line has no line break.
    room = max(budget - _bundled_width(entries), budget // _OTHERS_DIVISOR) + 1
    fitting = []
    for entry in entries:
        if not entry.is_bundled:
            room -= width(entry.name) + 3
        if entry.is_bundled or room >= 0:
            fitting.append(entry)
    return tuple(fitting)


def _cap(entry: ListingEntry) -> ListingEntry:
    if len(entry.text) <= MAX_TEXT_CHARACTERS:
        return entry
    return replace(entry, text=entry.text[: MAX_TEXT_CHARACTERS - 1] + ELLIPSIS, cut=Truncation.LONG)


def _truncate_to_share(entry: ListingEntry, share: int) -> ListingEntry:
    text = truncate(entry.text, share)
    return entry if text == entry.text else replace(entry, text=text, cut=Truncation.SHARE)


def _name_only(entry: ListingEntry) -> ListingEntry:
    return replace(entry, text="", cut=Truncation.NAME) if entry.text else entry


def _total_width(entries: Sequence[ListingEntry]) -> int:
    return sum(width(entry.line) for entry in entries) + max(len(entries) - 1, 0)


def _bundled_width(entries: Sequence[ListingEntry]) -> int:
    return sum(width(entry.line) + 1 for entry in entries if entry.is_bundled)
