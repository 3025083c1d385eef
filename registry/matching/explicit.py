"""The first tier of a match: skills identified by an event, an intent, a phrase or their name."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from registry.core import search_terms
from registry.core.search_terms import TextToken
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.index.postings import MAX_PHRASE_TOKENS
from registry.lookup.canonical import PREFIX
from registry.matching import sql
from registry.matching.pinned_skills import PinnedSkills
from registry.matching.sql import TriggerRow
from registry.models import Canonical, TriggerKind
from registry.search.sql import SqlFilter

MIN_CONTAINED_SCORE = 0.7  # minimum score of a phrase that is part of the utterance; the maximum is 1
_MIN_SHARE = 0.5  # share of the utterance that a single word must cover to count as a request
_CJK_WORD = 2  # Chinese characters that count as one word
_KEY_BATCH = 2000
_CANONICAL_NAME = re.compile(rf"(?<![\w-]){PREFIX}([a-z0-9]+(?:-[a-z0-9]+)*)", re.ASCII)
_MAX_CANONICAL_NAMES = 20  # per utterance
_NAME_MARKERS = frozenset("/$@`\"'“”「」")  # characters that mark the name after them, as in /name


@dataclass(frozen=True)
class TriggerHit:
    """A trigger that matches the request. ``start`` and ``end`` are 0 for the request's event or intent."""

    skill: int
    kind: str
    text: str
    start: int
    end: int
    score: float
    pin: Canonical | None = None  # set if the utterance contains the canonical name


@reader
def trigger_prefixes(tokens: Sequence[TextToken]) -> Reads[Collection[str]]:
    """The pairs of neighboring tokens that start a trigger of any skill. Most pairs of a text start none."""
    yield (rows := sql.trigger_prefixes(sorted(set(_pairs(tokens)))))
    return {pair for (pair,) in rows}


@reader
def explicit_matches(
    utterance: str,
    tokens: Sequence[TextToken],
    prefixes: Collection[str],
    pinned: PinnedSkills,
    *,
    intent: str,
    event: str,
    actor: Actor,
    sql_filter: SqlFilter,
) -> Reads[list[TriggerHit]]:
    """The triggers that equal the request's event or intent, and the phrases, intents and names that occur in
    the utterance. Words are compared by stem. ``prefixes`` is the result of ``trigger_prefixes``.
    """
    windows = _windows(utterance, tokens, prefixes)
    hits = yield from gather(
        _event_and_intent_hits(intent, event, pinned, sql_filter),
        _canonical_hits(utterance, actor),
        _phrase_hits(utterance, tokens, windows, pinned, sql_filter),
    )
    return [hit for some in hits for hit in some]


def _event_and_intent_hits(
    intent: str, event: str, pinned: PinnedSkills, sql_filter: SqlFilter
) -> Reads[list[TriggerHit]]:
    keys = {TriggerKind.EVENT: event.strip()[:200], TriggerKind.INTENT: search_terms.phrase_key(intent)[:200]}
    kinds = [kind for kind, key in keys.items() if key]
    found = yield from gather(*(_read_triggers([keys[kind]], [kind], pinned, sql_filter) for kind in kinds))
    return [
        TriggerHit(skill, kind, text, 0, 0, 1.0)
        for kind, rows in zip(kinds, found, strict=True)
        for skill, _, _, text in rows
    ]


def _canonical_hits(utterance: str, actor: Actor) -> Reads[list[TriggerHit]]:
    """A hit for each canonical name in the utterance. For every actor, the name selects the pinned
    version.
    """
    named = {
        found[1]: found.span() for found in islice(_CANONICAL_NAME.finditer(utterance), _MAX_CANONICAL_NAMES)
    }
    if not named:
        return []
    rows = Canonical.objects.discoverable_by(actor).filter(slug__in=named).select_related("version")
    yield rows
    return [
        TriggerHit(row.skill_id, TriggerKind.NAME, str(row), *named[row.slug], 1.0, row)
        for row in rows
        if row.skill_id is not None
    ]


def _phrase_hits(
    utterance: str,
    tokens: Sequence[TextToken],
    windows: Mapping[str, tuple[int, int]],
    pinned: PinnedSkills,
    sql_filter: SqlFilter,
) -> Reads[list[TriggerHit]]:
    """A hit for each phrase, intent and name in the utterance. Only whole words match."""
    keys = sorted(windows)
    kinds = (TriggerKind.PHRASE, TriggerKind.INTENT, TriggerKind.NAME)
    hits = []
    for at in range(0, len(keys), _KEY_BATCH):
        part = keys[at : at + _KEY_BATCH]
        for skill, kind, key, text in (yield from _read_triggers(part, kinds, pinned, sql_filter)):
            begin, end = windows[key]
            covered = (end - begin) / len(tokens)
            if _names_skill(utterance, tokens, begin, end, kind):
                start, stop = tokens[begin].start, tokens[end - 1].end
                score = MIN_CONTAINED_SCORE + (1 - MIN_CONTAINED_SCORE) * covered
                hits.append(TriggerHit(skill, kind, text, start, stop, score))
    return hits


def _read_triggers(
    keys: Sequence[str], kinds: Sequence[str], pinned: PinnedSkills, sql_filter: SqlFilter
) -> Reads[list[TriggerRow]]:
    """Skill id, kind, key and text of matching triggers. For skills in ``pinned``, uses the triggers of the
    pinned version.
    """
    rows = sql.trigger_rows(keys, kinds, sql_filter)
    _rows, of_versions = yield from gather(reads_of(rows), pinned.triggers(keys, kinds))
    return [*(row for row in rows if row[0] not in pinned.keys), *of_versions]


def _pairs(tokens: Sequence[TextToken]) -> list[str]:
    return [f"{one.key} {two.key}" for one, two in pairwise(tokens)]


def _windows(
    utterance: str, tokens: Sequence[TextToken], prefixes: Collection[str]
) -> dict[str, tuple[int, int]]:
    """The token range (begin, end) of the first occurrence of each key that may be a trigger, by key."""
    found: dict[str, tuple[int, int]] = {}
    for at, token in enumerate(tokens):
        if _names_skill(utterance, tokens, at, at + 1, TriggerKind.NAME):
            found.setdefault(token.key, (at, at + 1))
    for begin, key in enumerate(_pairs(tokens)):
        if key in prefixes:
            found.setdefault(key, (begin, begin + 2))
            for end in range(begin + 3, min(begin + MAX_PHRASE_TOKENS, len(tokens)) + 1):
                key = f"{key} {tokens[end - 1].key}"
                found.setdefault(key, (begin, end))
    return found


def _names_skill(utterance: str, tokens: Sequence[TextToken], begin: int, end: int, kind: str) -> bool:
    """Whether these tokens request a skill: more than one word, at least half of the utterance, or a name
    after a marker such as ``/``. Two Chinese characters are one word.
    """
    cjk = sum(token.is_cjk for token in tokens[begin:end])
    if cjk + (end - begin - cjk) * _CJK_WORD > _CJK_WORD or (end - begin) / len(tokens) >= _MIN_SHARE:
        return True
    start = tokens[begin].start
    return kind == TriggerKind.NAME and start > 0 and utterance[start - 1] in _NAME_MARKERS
