"""What the catalog's address may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from registry.search import FACETS, MOST_CHARACTERS, Filters

SORTS = ("score", "newest")


@dataclass(frozen=True)
class CatalogQuery:
    """The words, filters and order that the address names; what makes no sense is as if it were not there."""

    q: str
    filters: Filters
    sort: str

    @property
    def chosen(self) -> list[tuple[str, str]]:
        """The filters that are set: each facet and its value."""
        every = ((name, getattr(self.filters, name)) for name in FACETS)
        return [(name, value) for name, value in every if value]

    @property
    def is_narrowed(self) -> bool:
        return bool(self.q or self.chosen)


def read_query(query: QueryDict) -> CatalogQuery:
    sort = line(query, "sort")
    return CatalogQuery(
        q=line(query, "q", MOST_CHARACTERS),
        filters=Filters(**{name: line(query, name) for name in FACETS}, for_people=True),
        sort=sort if sort in SORTS else "score",
    )


def line(query: QueryDict, name: str, most: int = 120) -> str:
    """A parameter of the address without what no database holds."""
    value = query.get(name, "").replace("\0", "").strip()[:most]
    return value.encode("utf-8", "ignore").decode()
