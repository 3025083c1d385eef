"""Parses the catalog's query string."""

from dataclasses import dataclass
from urllib.parse import quote

from django.http import QueryDict

from registry.search.facets import CATALOG_FACETS
from registry.search.kinds import KIND_FILTERS, LANGUAGE_FILTERS
from registry.search.query import MAX_QUERY_CHARACTERS, Filters

SORTS = ("score", "newest")


@dataclass(frozen=True)
class CatalogQuery:
    """The search words ``q``, the filters, and the order: one of ``SORTS``."""

    q: str
    filters: Filters
    sort: str

    @property
    def chosen(self) -> list[tuple[str, str]]:
        """Pairs of name and value of the filters that are set."""
        values = ((name, getattr(self.filters, name)) for name in CATALOG_FACETS)
        return [(name, value) for name, value in values if value]

    @property
    def encoded_words(self) -> str:
        """The search words for a URL."""
        return quote(self.q)

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.chosen)


def read_query(query: QueryDict) -> CatalogQuery:
    sort = line(query, "sort")
    filters = {name: line(query, name) for name in CATALOG_FACETS}
    for name, known in (("kind", KIND_FILTERS), ("language", LANGUAGE_FILTERS)):
        filters[name] = filters[name] if filters[name] in known else ""
    return CatalogQuery(
        q=line(query, "q", MAX_QUERY_CHARACTERS),
        filters=Filters(**filters, for_people=True, for_agents=False),
        sort=sort if sort in SORTS else "score",
    )


def line(query: QueryDict, name: str, max_length: int = 120) -> str:
    """The stripped query parameter, at most ``max_length`` characters; "" if it is missing.

    NUL and unpaired surrogates are removed, because a database can't store them.
    """
    value = query.get(name, "").replace("\0", "").strip()[:max_length]
    return value.encode("utf-8", "ignore").decode()
