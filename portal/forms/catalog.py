"""What the catalog's address may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from registry.search import MOST_CHARACTERS, Filters

SORTS = ("score", "newest")


@dataclass(frozen=True)
class CatalogQuery:
    """The words, filters and order that the address names; what makes no sense is as if it were not there."""

    q: str = ""
    team: str = ""
    type: str = ""
    tag: str = ""
    sort: str = "score"

    @property
    def filters(self) -> Filters:
        return Filters(team=self.team, type=self.type, tag=self.tag, for_people=True)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.q or self.team or self.type or self.tag)


def read_query(query: QueryDict) -> CatalogQuery:
    def text(name: str, most: int = 120) -> str:
        value = query.get(name, "").replace("\0", "").strip()[:most]
        return value.encode("utf-8", "ignore").decode()

    sort = text("sort")
    return CatalogQuery(
        q=text("q", MOST_CHARACTERS),
        team=text("team"),
        type=text("type"),
        tag=text("tag"),
        sort=sort if sort in SORTS else "score",
    )
