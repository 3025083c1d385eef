"""Labels of match reasons, and the user's sentence split into matched and other parts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from portal.presenters.content.punctuation import labelled, listed
from registry.matching.match import Match, MatchReason

_MAX_SKILLS = 6  # number of skills named per segment

FIELDS: dict[str, str | Promise] = {
    "name": _("name"),
    "keywords": _("keywords"),
    "tags": _("tags"),
    "description": _("description"),
    "body": _("text"),
    "denied": _("what the skill is not for"),
    "phrases": _("trigger phrases"),
    "intents": _("intents"),
    "event_types": _("event types"),
}
KINDS: dict[str, str | Promise] = {
    "event": _("matching event"),
    "intent": _("matching intent"),
    "phrase": _("matching phrase"),
    "name": _("name in the request"),
    "word": _("same word"),
    "meaning": _("same meaning"),
}


class RowReason(NamedTuple):
    """A match reason of a catalog row: the user's words ``text``, and the skill's word ``meant`` if it is
    another one.
    """

    field: str
    text: str
    meant: str = ""


def segments(sentence: str, rows: Sequence[Match]) -> list[dict[str, str]]:
    """The whole sentence in parts: dicts with ``text`` and, for matched parts, ``title``.

    ``title`` names the matched skills and fields.
    """
    found: list[dict[str, str]] = []
    at = 0
    for start, end in _matched_spans(reason for row in rows for reason in row.reasons):
        if start > at:
            found.append({"text": sentence[at:start]})
        found.append({"text": sentence[start:end], "title": _title(start, end, rows)})
        at = end
    return found + ([{"text": sentence[at:]}] if at < len(sentence) else [])


def _matched_spans(reasons: Iterable[MatchReason]) -> list[tuple[int, int]]:
    """Start and end of each matched piece; overlapping pieces are joined."""
    found: list[tuple[int, int]] = []
    for start, end in sorted({(reason.start, reason.end) for reason in reasons if reason.end}):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _title(start: int, end: int, rows: Sequence[Match]) -> str:
    """The matched fields per skill, such as ``handbook/report: name, tags``."""
    labels = []
    for row in rows:
        here = (reason for reason in row.reasons if start <= reason.start < end and reason.end)
        if fields := list(dict.fromkeys(str(FIELDS[reason.field]) for reason in here)):
            labels.append(labelled(row.skill, listed(fields)))
    more = len(labels) - _MAX_SKILLS
    if more > 0:
        labels[_MAX_SKILLS:] = [gettext("%(count)s more") % {"count": more}]
    return pgettext("list of lists", "; ").join(labels)
