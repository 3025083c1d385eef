from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

from worker.models import Approval

_AHEAD = 20  # pages


class ApprovalPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at run time
    """Counts only the approvals up to ``_AHEAD`` pages after the requested one, as each one's run is read."""

    def __init__(self, rows: QuerySet[Approval], per_page: int, requested: str | None) -> None:
        super().__init__(rows, per_page)
        number = int(requested) if requested and requested.isdecimal() and len(requested) < 7 else 1
        self._rows = rows
        self._max = (number + _AHEAD) * per_page

    @cached_property
    def count(self) -> int:
        return self._rows[: self._max].count()

    @property
    def last_page(self) -> str:
        """The number of pages; with "+" if there are more."""
        return f"{self.num_pages}+" if self.count == self._max else str(self.num_pages)
