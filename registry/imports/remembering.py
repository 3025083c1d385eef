"""What the last reading of a source left behind, so that an unchanged one is not read again."""

from __future__ import annotations

from registry.models import ImportOutcome, ImportStatus, Source


def seen_whole(source: Source) -> str:
    """The state that was read last, "" unless every candidate of it was taken in then."""
    ended = (ImportStatus.DONE, ImportStatus.FAILED)
    last = source.imports.filter(status__in=ended).order_by("-pk").first()
    if last is None or last.status != ImportStatus.DONE:
        return ""
    return "" if last.rows.filter(outcome=ImportOutcome.REFUSED).exists() else source.seen
