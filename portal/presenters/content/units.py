"""Formats amounts with their units, in the reader's language."""

from django.utils.translation import pgettext


def duration(seconds: float | None) -> str:
    """A duration such as ``0.42 s``, ``3 min 5 s`` or ``2 h 10 min``; ``–`` for None."""
    if seconds is None:
        return "–"
    for limit, digits in ((1, 2), (10, 1), (60, 0)):
        if round(seconds, digits) < limit:
            return pgettext("seconds", "%(n)s s") % {"n": f"{seconds:.{digits}f}"}
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60 and not rest:
        return pgettext("duration", "%(minutes)s min") % {"minutes": minutes}
    if minutes < 60:
        return pgettext("duration", "%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
    hours, minutes = divmod(minutes, 60)
    return pgettext("duration", "%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}
