"""Matches canonical skills by the words of their pinned version instead of the latest.

This applies only to skills that are recommended to the actor solely because they are canonical.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from registry.identity.actors import Actor
from registry.matching import sql
from registry.matching.sql import TriggerRow
from registry.search import sql as retrieval
from registry.search.sql import PostingRow, TermCount, TermCounts


@dataclass(frozen=True)
class PinnedSkills:
    """The skills recommended to an actor only as canonical. ``keys`` maps skill ids to canonical and version
    ids.
    """

    keys: Mapping[int, tuple[int, int]]

    @cached_property
    def _skills(self) -> dict[int, int]:
        """Skill ids by the id of the pinned version."""
        return {version: skill for skill, (_, version) in self.keys.items()}

    @cached_property
    def _versions(self) -> list[int]:
        return sorted(self._skills)

    def count(self, texts: Iterable[str], actor: Actor) -> TermCounts:
        """The counts of the terms in skills that the actor may see, and of terms that only pinned versions
        have.
        """
        wanted = set(texts)
        counts = retrieval.count_terms(wanted, actor)
        if not self.keys:
            return counts
        rows = sql.pinned_term_counts(sorted(wanted - counts.terms.keys()), self._versions)
        return replace(counts, terms={**counts.terms, **{text: TermCount(key, df) for text, key, df in rows}})

    def replace_postings(self, rows: list[PostingRow], terms: Collection[TermCount]) -> list[PostingRow]:
        """The postings, with those of canonical skills replaced by those of their pinned versions."""
        if not self.keys:
            return rows
        rows_of_versions = sql.pinned_postings(sorted({term.key for term in terms}), self._versions)
        return self.exclude_postings(rows) + [
            (term, self._skills[key], weight, mask) for term, key, weight, mask in rows_of_versions
        ]

    def exclude_postings(self, rows: list[PostingRow]) -> list[PostingRow]:
        return [row for row in rows if row[1] not in self.keys] if self.keys else rows

    def triggers(self, keys: Sequence[str], kinds: Sequence[str]) -> Iterator[TriggerRow]:
        """Yields the triggers of the pinned versions with these keys and kinds."""
        for version, kind, key, text in sql.pinned_trigger_rows(keys, kinds, self._versions):
            yield self._skills[version], kind, key, text
