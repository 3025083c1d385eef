"""Canonical skills as their askers are answered: by the words of the accepted version, not of the latest.

Only those that the asker reaches as canonical are looked at so; there are as many as administrators chose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import QuerySet

from registry import retrieval
from registry.actors import Actor
from registry.models import Canonical, PinnedPosting, PinnedTrigger
from registry.retrieval import Counted, Counts, Row

Said = tuple[int, str, str, str]  # of a trigger: skill, kind, key, text


@dataclass(frozen=True)
class Pinned:
    """The canonical skills of an asker, by the key of each."""

    canonicals: Mapping[int, Canonical]

    @cached_property
    def _skills(self) -> dict[int, int]:
        """By the key of the version that is answered."""
        return {row.version_id: skill for skill, row in self.canonicals.items() if row.version_id}

    def count(self, texts: Iterable[str], actor: Actor) -> Counts:
        """The counts of what the actor may see, and of the terms that accepted versions alone have."""
        wanted = set(texts)
        counts = retrieval.count(wanted, actor)
        missing = wanted - counts.terms.keys()
        if not self._skills or not missing:
            return counts
        rows = self._postings().filter(term__text__in=missing).values_list("term__text", "term_id")
        found = Counter(rows)
        more = {text: Counted(key, df) for (text, key), df in found.items()}
        return replace(counts, terms={**counts.terms, **more})

    def instead(self, rows: Iterable[Row], terms: Collection[Counted]) -> list[Row]:
        """The rows, those of canonical skills as their accepted versions have them."""
        if not self._skills:
            return list(rows)
        asked = {term.key for term in terms}
        found = self._postings().filter(term_id__in=asked)
        told = found.values_list("term_id", "version_id", "weight", "field_mask").order_by("version", "term")
        return self.without(rows) + [
            (term, self._skills[key], weight, mask) for term, key, weight, mask in told
        ]

    def without(self, rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if row[1] not in self.canonicals]

    def triggers(self, keys: Collection[str], kinds: Collection[str]) -> Iterator[Said]:
        """What the accepted versions are asked for by."""
        if not self._skills:
            return
        rows = PinnedTrigger.objects.filter(version__in=self._skills, key__in=keys, kind__in=kinds)
        for version, kind, key, text in rows.values_list("version_id", "kind", "key", "text"):
            yield self._skills[version], kind, key, text

    def _postings(self) -> QuerySet[PinnedPosting]:
        return PinnedPosting.objects.filter(version__in=self._skills)
