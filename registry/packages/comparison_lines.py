"""Two texts side by side, with the words that changed: exact, and bounded by what bits of a number can do.

The longest common subsequence comes from one big number a line (Hyyrö's bit-parallel algorithm), so that a
pathological pair of 6,000 lines each takes a fraction of a second, where difflib takes minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

MOST_BYTES = 512 * 1024  # of either text; larger ones are said to be too large
MOST_LINES = 6_000  # of either text between what both begin and end with
CONTEXT = 3  # unchanged lines shown around a change
_MOST_MARKED = 2_000  # pairs of lines whose words are compared
_LONGEST_MARKED = 1_000  # characters of such a line
_LEAST_ALIKE = 0.3  # of the words: lines that share less are another line, not a changed one
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

LineKind = Literal["same", "changed", "removed", "added"]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A part of a line; ``changed`` where the other side has something else."""

    text: str
    changed: bool = False


@dataclass(frozen=True)
class Line:
    """One line of the comparison; numbers count from 1, None on the side that has nothing here."""

    before_number: int | None
    after_number: int | None
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()

    @property
    def kind(self) -> LineKind:
        if self.before_number is None:
            return "added"
        if self.after_number is None:
            return "removed"
        return "same" if self.before == self.after else "changed"


@dataclass(frozen=True)
class Stretch:
    """Lines that follow one another; those of a ``folded`` one are unchanged and far from any change."""

    lines: tuple[Line, ...]
    folded: bool = False


@dataclass(frozen=True)
class TextComparison:
    """``too_large``: one of the texts is, and nothing was compared."""

    stretches: tuple[Stretch, ...] = ()
    too_large: bool = False

    @property
    def removed(self) -> int:
        return sum(line.kind in ("removed", "changed") for part in self.stretches for line in part.lines)

    @property
    def added(self) -> int:
        return sum(line.kind in ("added", "changed") for part in self.stretches for line in part.lines)


def compare_texts(before: bytes, after: bytes) -> TextComparison:
    """Line by line; a text that ends without a line's end differs in its last line."""
    if max(len(before), len(after)) > MOST_BYTES:
        return TextComparison(too_large=True)
    old, new = _lines(before), _lines(after)
    pairs = common(old, new, most=MOST_LINES)
    if pairs is None:
        return TextComparison(too_large=True)
    return TextComparison(tuple(_folded(list(_side_by_side(old, new, pairs)))))


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8-sig", "replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def common(before: Sequence[str], after: Sequence[str], *, most: int) -> list[Pair] | None:
    """The places of a longest common subsequence, or None where more than ``most`` would be compared."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(old), len(new)) > most:
        return None
    inner = [(i + start, j + start) for i, j in _longest(old, new)]
    tail = range(end, 0, -1)
    return [(i, i) for i in range(start)] + inner + [(len(before) - i, len(after) - i) for i in tail]


def _longest(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Bit j of row i is 0 where the subsequence of ``before[:i+1]`` grows at ``after[j]``."""
    places: dict[str, int] = {}
    for j, item in enumerate(after):
        places[item] = places.get(item, 0) | 1 << j
    everything = (1 << len(after)) - 1
    row, rows = everything, []
    for item in before:
        matches = row & places.get(item, 0)
        row = ((row + matches) | (row - matches)) & everything
        rows.append(row)
    return list(reversed(list(_walked_back(rows, len(after)))))


def _walked_back(rows: list[int], width: int) -> Iterator[Pair]:
    i, j = len(rows) - 1, width - 1
    while i >= 0 and j >= 0:
        if rows[i] >> j & 1:
            j -= 1
        elif i > 0 and not rows[i - 1] >> j & 1:
            i -= 1
        else:
            yield i, j
            i, j = i - 1, j - 1


def _side_by_side(before: list[str], after: list[str], pairs: list[Pair]) -> Iterator[Line]:
    i = j = marked = 0
    for next_i, next_j in [*pairs, (len(before), len(after))]:
        together = min(next_i - i, next_j - j)
        for step in range(together):
            marked += 1
            yield from _changed(before, after, (i + step, j + step), mark=marked <= _MOST_MARKED)
        yield from (_removed(before, n) for n in range(i + together, next_i))
        yield from (_added(after, n) for n in range(j + together, next_j))
        if next_i < len(before) and next_j < len(after):
            piece = (Piece(before[next_i]),)
            yield Line(next_i + 1, next_j + 1, piece, piece)
        i, j = next_i + 1, next_j + 1


def _changed(before: list[str], after: list[str], at: Pair, *, mark: bool) -> Iterator[Line]:
    i, j = at
    pieces = _marked(before[i], after[j]) if mark else None
    if pieces:
        yield Line(i + 1, j + 1, *pieces)
    else:
        yield _removed(before, i)
        yield _added(after, j)


def _removed(before: list[str], i: int) -> Line:
    return Line(i + 1, None, (Piece(before[i]),))


def _added(after: list[str], j: int) -> Line:
    return Line(None, j + 1, (), (Piece(after[j]),))


def _marked(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]] | None:
    """Both lines with the words that differ marked; None where they have too little in common."""
    if max(len(before), len(after)) > _LONGEST_MARKED:
        return None
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    pairs = common(old, new, most=_LONGEST_MARKED) or []
    alike = sum(len(old[i]) for i, _ in pairs if not old[i].isspace())
    if alike < _LEAST_ALIKE * max(len(before.strip()), len(after.strip())):
        return None
    return _pieces(old, {i for i, _ in pairs}), _pieces(new, {j for _, j in pairs})


def _pieces(words: list[str], kept: set[int]) -> tuple[Piece, ...]:
    """Neighbours of a kind together."""
    pieces: list[Piece] = []
    for place, word in enumerate(words):
        changed = place not in kept
        if pieces and pieces[-1].changed == changed:
            pieces[-1] = Piece(pieces[-1].text + word, changed)
        else:
            pieces.append(Piece(word, changed))
    return tuple(pieces)


def _folded(lines: list[Line]) -> Iterator[Stretch]:
    """Changes with their context; what lies further from any change is folded away."""
    changes = [place for place, line in enumerate(lines) if line.kind != "same"]
    shown: set[int] = set()
    for place in changes:
        shown.update(range(max(0, place - CONTEXT), min(len(lines), place + CONTEXT + 1)))
    start = 0
    for place in range(1, len(lines) + 1):
        if place == len(lines) or (place in shown) != (start in shown):
            far = start not in shown and place - start > CONTEXT  # fewer are read sooner than unfolded
            yield Stretch(tuple(lines[start:place]), folded=far)
            start = place
