"""The first tier of a match: skills that were asked for by an event, an intent, a phrase or their name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from registry import bulk, words
from registry.actors import Actor
from registry.canonical import PREFIX
from registry.indexing import LONGEST_PHRASE
from registry.matching.pinned import Pinned
from registry.models import Canonical, TriggerKind
from registry.retrieval import Sight
from registry.words import Piece

LEAST_CONTAINED = 0.7  # what a phrase somewhere in a long utterance scores; one that is all of it scores 1
_WHOLE_LEAST = 0.5  # of the utterance: a single word that covers less asks for nothing by itself
_KEYS_AT_ONCE = 2000
_PINNED = re.compile(rf"(?<![\w-]){PREFIX}([a-z0-9]+(?:-[a-z0-9]+)*)", re.ASCII)
_MOST_PINNED = 20  # of one utterance
_READ = """
    SELECT skill_id, kind, key, text FROM registry_trigger WHERE key IN ({keys}) AND kind IN ({kinds}){seen}
"""
_BEGUN = """
    SELECT column1 FROM (VALUES {pairs}) AS pairs
    WHERE EXISTS (SELECT 1 FROM registry_trigger WHERE key >= column1 AND key < column1 || '!')
    OR EXISTS (SELECT 1 FROM registry_pinnedtrigger WHERE key >= column1 AND key < column1 || '!')
"""
_CALLING = frozenset("/$@`\"'“”「」")  # what stands before a name that is called


@dataclass(frozen=True)
class Asked:
    """A trigger that the request meets; ``start`` and ``end`` of what is not said in the utterance are 0."""

    skill: int
    kind: str
    text: str
    start: int
    end: int
    score: float
    pin: Canonical | None = None  # whose accepted version was asked for by its name


def asked_for(
    utterance: str,
    pieces: Sequence[Piece],
    pinned: Pinned,
    *,
    intent: str,
    event: str,
    actor: Actor,
    readable: Sight,
) -> list[Asked]:
    """Every trigger in reach that the request meets word by word."""
    return [
        *_named(intent, event, pinned, readable),
        *_canonical(utterance, actor),
        *_said(utterance, pieces, pinned, readable),
    ]


def _named(intent: str, event: str, pinned: Pinned, readable: Sight) -> Iterator[Asked]:
    """The triggers that are the event or intent itself."""
    keys = {TriggerKind.EVENT: event.strip()[:200], TriggerKind.INTENT: words.phrase_key(intent)[:200]}
    for kind, key in keys.items():
        for skill, _, _, text in _triggers([key], [kind], pinned, readable) if key else ():
            yield Asked(skill, kind, text, 0, 0, 1.0)


def _canonical(utterance: str, actor: Actor) -> Iterator[Asked]:
    """The canonical names that stand in the utterance: to everybody the accepted version."""
    named = {found[1]: found.span() for found in islice(_PINNED.finditer(utterance), _MOST_PINNED)}
    if not named:
        return
    for row in Canonical.objects.offered_to(actor).filter(slug__in=named).select_related("version"):
        if row.skill_id is not None:
            yield Asked(row.skill_id, TriggerKind.NAME, str(row), *named[row.slug], 1.0, row)


def _said(utterance: str, pieces: Sequence[Piece], pinned: Pinned, readable: Sight) -> Iterator[Asked]:
    """The phrases, intents and names that stand in the utterance, whole words only."""
    windows = _windows(utterance, pieces)
    keys = sorted(windows)
    kinds = (TriggerKind.PHRASE, TriggerKind.INTENT, TriggerKind.NAME)
    for at in range(0, len(keys), _KEYS_AT_ONCE):
        part = keys[at : at + _KEYS_AT_ONCE]
        for skill, kind, key, text in _triggers(part, kinds, pinned, readable):
            begin, end = windows[key]
            covered = (end - begin) / len(pieces)
            if _asks(utterance, pieces, begin, end, kind):
                start, stop = pieces[begin].start, pieces[end - 1].end
                score = LEAST_CONTAINED + (1 - LEAST_CONTAINED) * covered
                yield Asked(skill, kind, text, start, stop, score)


def _triggers(
    keys: Sequence[str], kinds: Sequence[str], pinned: Pinned, readable: Sight
) -> Iterator[tuple[int, str, str, str]]:
    """Skill, kind, key and text of those of skills that the actor's agents are offered, as they are."""
    sql = _READ.format(keys=bulk.places(keys), kinds=bulk.places(kinds), seen=readable.seen)
    rows = readable.read(sql, (*keys, *map(str, kinds), *readable.values))
    yield from (row for row in rows if row[0] not in pinned.keys)
    yield from pinned.triggers(keys, kinds)


def _windows(utterance: str, pieces: Sequence[Piece]) -> dict[str, tuple[int, int]]:
    """Each run of pieces that may be a trigger and asks, and where it stands first."""
    found: dict[str, tuple[int, int]] = {}
    for at, piece in enumerate(pieces):
        if _asks(utterance, pieces, at, at + 1, TriggerKind.NAME):
            found.setdefault(piece.key, (at, at + 1))
    pairs = [f"{one.key} {two.key}" for one, two in pairwise(pieces)]
    begun = _begun(pairs)
    for begin, key in enumerate(pairs):
        if key in begun:
            found.setdefault(key, (begin, begin + 2))
            for end in range(begin + 3, min(begin + LONGEST_PHRASE, len(pieces)) + 1):
                key = f"{key} {pieces[end - 1].key}"
                found.setdefault(key, (begin, end))
    return found


def _begun(pairs: Sequence[str]) -> set[str]:
    """Those of pairs of neighbours with which a trigger begins: few of a text's."""
    wanted = sorted(set(pairs))
    if not wanted:
        return set()
    return {pair for (pair,) in bulk.read(_BEGUN.format(pairs=", ".join(["(%s)"] * len(wanted))), wanted)}


def _asks(utterance: str, pieces: Sequence[Piece], begin: int, end: int, kind: str) -> bool:
    """Whether these words ask for a skill: more than one word, or most of what is said, or a name called."""
    size = end - begin
    least = 3 if pieces[begin].is_cjk and kind == TriggerKind.NAME else 2
    if size >= least or size / len(pieces) >= _WHOLE_LEAST:
        return True
    start = pieces[begin].start
    return kind == TriggerKind.NAME and start > 0 and utterance[start - 1] in _CALLING
