"""Finds the revision of a source's last complete import, so that an unchanged source is not read again."""

from registry.models import ImportOutcome, ImportStatus, Source


def last_complete_state(source: Source) -> str:
    """The revision of the last import if that import succeeded and refused no candidate, otherwise ""."""
    ended = (ImportStatus.DONE, ImportStatus.FAILED)
    last = source.imports.filter(status__in=ended).order_by("-pk").first()
    if last is None or last.status != ImportStatus.DONE:
        return ""
    return "" if last.rows.filter(outcome=ImportOutcome.REFUSED).exists() else source.last_revision
