"""How much of each skill is said within a budget: all of it, an even share, or its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from registry.listing.plain import ELLIPSIS, cut, width

LONGEST = 250  # characters of a text
LEAST = 20  # columns; a text of fewer says nothing, so the names stand alone
_OTHERS = 4  # one part of so many is for the others' names, however much is bundled


class Stage(StrEnum):
    FULL = "full"
    SHARED = "shared"
    NAMES = "names"


class Cut(StrEnum):
    """What of a text is left."""

    NONE = "none"
    LONG = "long"  # it was longer than any text may be
    SHARE = "share"  # of the budget, the same for all
    NAME = "name"  # nothing but the name


@dataclass(frozen=True)
class Entry:
    name: str
    text: str
    is_bundled: bool = False
    cut: Cut = Cut.NONE

    @property
    def line(self) -> str:
        return f"- {self.name}: {self.text}" if self.text else f"- {self.name}"


@dataclass(frozen=True)
class Fitted:
    stage: Stage
    entries: tuple[Entry, ...]

    @property
    def width(self) -> int:
        return _width(self.entries)


def budget_of(context_tokens: int) -> int:
    """One hundredth of a context window, in characters."""
    return context_tokens * 4 // 100


def fit(entries: Sequence[Entry], budget: int) -> Fitted:
    """The entries in their order, with as much of their texts as the budget holds; bundled ones whole."""
    capped = tuple(entry if entry.is_bundled else _capped(entry) for entry in entries)
    others = [entry for entry in capped if not entry.is_bundled]
    if _width(capped) <= budget or not others:
        return Fitted(Stage.FULL, capped)
    room = budget - _bundled_width(capped) - sum(width(entry.name) + 4 for entry in others)
    share = (room - (len(others) - 1)) // len(others)
    if share < LEAST:
        return Fitted(Stage.NAMES, tuple(entry if entry.is_bundled else _named(entry) for entry in capped))
    return Fitted(
        Stage.SHARED, tuple(entry if entry.is_bundled else _shared(entry, share) for entry in capped)
    )


def named_within(entries: Sequence[Entry], budget: int) -> tuple[Entry, ...]:
    """Of the entries, the most urgent first, those whose names the budget holds; bundled ones all.

    Bundled ones may take more than the budget; they do not take all room from a team's own.
    """
    room = max(budget - _bundled_width(entries), budget // _OTHERS) + 1  # the last line ends without a break
    kept = []
    for entry in entries:
        if not entry.is_bundled:
            room -= width(entry.name) + 3
        if entry.is_bundled or room >= 0:
            kept.append(entry)
    return tuple(kept)


def _capped(entry: Entry) -> Entry:
    if len(entry.text) <= LONGEST:
        return entry
    return replace(entry, text=entry.text[: LONGEST - 1] + ELLIPSIS, cut=Cut.LONG)


def _shared(entry: Entry, share: int) -> Entry:
    text = cut(entry.text, share)
    return entry if text == entry.text else replace(entry, text=text, cut=Cut.SHARE)


def _named(entry: Entry) -> Entry:
    return replace(entry, text="", cut=Cut.NAME) if entry.text else entry


def _width(entries: Sequence[Entry]) -> int:
    return sum(width(entry.line) for entry in entries) + max(len(entries) - 1, 0)


def _bundled_width(entries: Sequence[Entry]) -> int:
    return sum(width(entry.line) + 1 for entry in entries if entry.is_bundled)
