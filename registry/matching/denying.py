"""What a request says that it does not want: "don't summarize it, translate it" asks for no summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from registry import words
from registry.words import Piece

_SAID = "don dont not never need instead rather 不 勿 无 别"
_MARKS = frozenset(map(words.stem, _SAID.split()))  # a piece of every denial
_MOST_MARKS = 8  # of an utterance
_BEFORE, _AFTER = 24, 24  # characters around a mark in which a denial begins and ends
_DENYING = re.compile(
    r"""(?:
        (?:(?:^|[^\w\s]\s*)(?:please\s+|but\s+|and\s+|so\s+|just\s+)?|\b(?:please|but|and|so|just)\s+)
            (?:do\s+not|don['’]?t|never|not)
      | \b(?:do\s+not|don['’]?t|no)\s+(?:want|need|have)(?:\s+you)?\s+to
      | \b(?:instead\s+of|rather\s+than|not\s+to)
      | (?<!要)不要 | (?<!用)不用 | (?<![要需])不需要 | 不想 | 不必 | 无需 | 请勿 | 而不是
      | (?:^|[^\w]|请|千万)别
    )\s*""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


def denied_places(utterance: str, pieces: Sequence[Piece]) -> set[int]:
    """Where something stands of which the words before it, in its clause, say that it is not wanted."""
    marks = islice((piece for piece in pieces if piece.key in _MARKS), _MOST_MARKS)
    return {
        found.end()
        for mark in marks
        for found in _DENYING.finditer(utterance, max(0, mark.start - _BEFORE), mark.end + _AFTER)
    }
