"""Finds negations in a request: "don't summarize it, translate it" does not request a summary."""

import re
from collections.abc import Sequence
from itertools import islice

from registry.core import search_terms
from registry.core.search_terms import TextToken

_NEGATION_WORDS = "don dont not never need instead rather 不 勿 无 别"
_NEGATION_KEYS = frozenset(
    map(search_terms.stem, _NEGATION_WORDS.split())
)  # every negation contains one of these tokens
_MAX_NEGATIONS = 8  # per utterance
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 24, 24  # searched for a negation around such a token
_NEGATION = re.compile(
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


def negated_offsets(utterance: str, tokens: Sequence[TextToken]) -> set[int]:
    """The offsets in the utterance where a negated part starts."""
    marks = islice((token for token in tokens if token.key in _NEGATION_KEYS), _MAX_NEGATIONS)
    return {
        found.end()
        for mark in marks
        for found in _NEGATION.finditer(
            utterance, max(0, mark.start - _CHARACTERS_BEFORE), mark.end + _CHARACTERS_AFTER
        )
    }
