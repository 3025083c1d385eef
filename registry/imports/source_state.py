"""The revision of a source at its last complete import, by which unchanged sources are skipped."""

from registry.models import ImportOutcome, ImportStatus, Source


def last_complete_state(source: Source) -> str:
    """The revision last imported; "" if there is none, or the last import failed or refused a candidate."""
    ended = (ImportStatus.DONE, ImportStatus.FAILED)
    last = source.imports.filter(status__in=ended).order_by("-pk").first()
    if last is None or last.status != ImportStatus.DONE:
        return ""
    return "" if last.rows.filter(outcome=ImportOutcome.REFUSED).exists() else source.last_revision
