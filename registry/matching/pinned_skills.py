"""Matches canonical skills by the words of their pinned version instead of the latest.

This applies only to skills that are recommended to the actor solely because they are canonical.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from registry.core.sql import Reads, gather, reads_of
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

    def count(self, texts: Iterable[str], actor: Actor) -> Reads[TermCounts]:
        """The counts of the terms in skills that the actor may see, and of terms that only pinned versions
        have.
        """
        wanted = set(texts)
        rows = sql.pinned_term_counts(sorted(wanted), self._versions)
        counts: TermCounts
        counts, _rows = yield from gather(retrieval.count_terms.reads(wanted, actor), reads_of(rows))
        pinned = {text: TermCount(key, df) for text, key, df in rows}
        return replace(counts, terms=pinned | dict(counts.terms)) if pinned else counts

    def postings(self, terms: Collection[TermCount]) -> Reads[list[PostingRow]]:
        """The postings of the terms in the pinned versions, with their skills' ids."""
        yield (rows := sql.pinned_postings(sorted({term.key for term in terms}), self._versions))
        return [(term, self._skills[key], weight, mask) for term, key, weight, mask in rows]

    def exclude_postings(self, rows: list[PostingRow]) -> list[PostingRow]:
        return [row for row in rows if row[1] not in self.keys] if self.keys else rows

    def triggers(self, keys: Sequence[str], kinds: Sequence[str]) -> Reads[list[TriggerRow]]:
        """The triggers of the pinned versions with these keys and kinds, with their skills' ids."""
        yield (rows := sql.pinned_trigger_rows(keys, kinds, self._versions))
        return [(self._skills[version], kind, key, text) for version, kind, key, text in rows]
