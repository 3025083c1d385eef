"""Canonical skills as their askers are answered: by the words of the accepted version, not of the latest.

Only those that the asker reaches as canonical are looked at so; there are as many as administrators chose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from registry import bulk, retrieval
from registry.actors import Actor
from registry.retrieval import Counted, Counts, Row

Said = tuple[int, str, str, str]  # of a trigger: skill, kind, key, text

_COUNTED = """
    SELECT t.text, t.id, COUNT(*) FROM registry_term t JOIN registry_pinnedposting p ON p.term_id = t.id
    WHERE t.text IN ({texts}) AND +p.version_id IN ({versions}) GROUP BY t.text, t.id
"""
_POSTED = """
    SELECT term_id, version_id, weight, field_mask FROM registry_pinnedposting
    WHERE term_id IN ({terms}) AND +version_id IN ({versions})
"""
_ASKED = """
    SELECT version_id, kind, key, text FROM registry_pinnedtrigger
    WHERE key IN ({keys}) AND kind IN ({kinds}) AND +version_id IN ({versions})
"""  # found by the term or key, of which few versions have one; the plus keeps SQLite from trying each pair


@dataclass(frozen=True)
class Pinned:
    """The canonical skills of an asker: by the key of each those of its canonical name and version."""

    keys: Mapping[int, tuple[int, int]]

    @cached_property
    def _skills(self) -> dict[int, int]:
        """By the key of the version that is answered."""
        return {version: skill for skill, (_, version) in self.keys.items()}

    def count(self, texts: Iterable[str], actor: Actor) -> Counts:
        """The counts of what the actor may see, and of the terms that accepted versions alone have."""
        wanted = set(texts)
        counts = retrieval.count(wanted, actor)
        if not self.keys:
            return counts
        rows = self._read(_COUNTED, texts=sorted(wanted - counts.terms.keys()))
        return replace(counts, terms={**counts.terms, **{text: Counted(key, df) for text, key, df in rows}})

    def instead(self, rows: list[Row], terms: Collection[Counted]) -> list[Row]:
        """The rows, those of canonical skills as their accepted versions have them."""
        if not self.keys:
            return rows
        told = self._read(_POSTED, terms=sorted({term.key for term in terms}))
        return self.without(rows) + [
            (term, self._skills[key], weight, mask) for term, key, weight, mask in told
        ]

    def without(self, rows: list[Row]) -> list[Row]:
        return [row for row in rows if row[1] not in self.keys] if self.keys else rows

    def triggers(self, keys: Sequence[str], kinds: Sequence[str]) -> Iterator[Said]:
        """What the accepted versions are asked for by."""
        for version, kind, key, text in self._read(_ASKED, keys=keys, kinds=kinds):
            yield self._skills[version], kind, key, text

    def _read(self, sql: str, **values: Sequence[int | str]) -> list[Any]:
        """What the statement finds of the versions; nothing where one of the lists is empty."""
        lists = {**values, "versions": sorted(self._skills)}
        if not all(lists.values()):
            return []
        marks = {name: bulk.places(each) for name, each in lists.items()}
        return bulk.read(sql.format(**marks), [value for each in lists.values() for value in each])
