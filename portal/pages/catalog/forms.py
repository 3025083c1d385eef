"""Parses the catalog's query string."""

from dataclasses import dataclass

from django.http import QueryDict

from registry.search.query import FACETS, MAX_QUERY_CHARACTERS, Filters

SORTS = ("score", "newest")


@dataclass(frozen=True)
class CatalogQuery:
    """Search words, filters and order; invalid parameters are ignored."""

    q: str
    filters: Filters
    sort: str

    @property
    def chosen(self) -> list[tuple[str, str]]:
        """The filters that are set: each facet and its value."""
        values = ((name, getattr(self.filters, name)) for name in FACETS)
        return [(name, value) for name, value in values if value]

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.chosen)


def read_query(query: QueryDict) -> CatalogQuery:
    sort = line(query, "sort")
    return CatalogQuery(
        q=line(query, "q", MAX_QUERY_CHARACTERS),
        filters=Filters(**{name: line(query, name) for name in FACETS}, for_people=True),
        sort=sort if sort in SORTS else "score",
    )


def line(query: QueryDict, name: str, max_length: int = 120) -> str:
    """The stripped query parameter, cut at ``max_length``, without characters that no database can store."""
    value = query.get(name, "").replace("\0", "").strip()[:max_length]
    return value.encode("utf-8", "ignore").decode()
