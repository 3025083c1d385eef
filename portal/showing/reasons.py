"""Why a skill was found, in words, and where in the sentence it was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from registry.matching import Match, Reason

_MOST_TOLD = 6  # of one stretch

FIELDS: dict[str, str | Promise] = {
    "name": _("name"),
    "keywords": _("keywords"),
    "tags": _("tags"),
    "description": _("description"),
    "body": _("text"),
    "denied": _("what it is not for"),
    "phrases": _("trigger phrases"),
    "intents": _("intents"),
    "event_types": _("event types"),
}
KINDS: dict[str, str | Promise] = {
    "event": _("the event it waits for"),
    "intent": _("an intent of it"),
    "phrase": _("a phrase of it"),
    "name": _("its name is said"),
    "word": _("the same word"),
    "meaning": _("means the same"),
}


@dataclass(frozen=True)
class Stretch:
    """A piece of the sentence; ``title`` says for which skills it spoke, "" where for none."""

    text: str
    title: str


def stretches(sentence: str, rows: Sequence[Match]) -> list[Stretch]:
    """The whole sentence, cut where something that spoke for a skill begins or ends."""
    found: list[Stretch] = []
    at = 0
    for start, end in _spots(reason for row in rows for reason in row.reasons):
        if start > at:
            found.append(Stretch(sentence[at:start], ""))
        found.append(Stretch(sentence[start:end], _title(start, end, rows)))
        at = end
    return found + ([Stretch(sentence[at:], "")] if at < len(sentence) else [])


def _spots(reasons: Iterable[Reason]) -> list[tuple[int, int]]:
    """Where something was said; what overlaps is one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted({(reason.start, reason.end) for reason in reasons if reason.end}):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _title(start: int, end: int, rows: Sequence[Match]) -> str:
    """Of each skill the fields that hold it: ``docs/report: name, tags``."""
    told = []
    for row in rows:
        here = (reason for reason in row.reasons if start <= reason.start < end and reason.end)
        if fields := list(dict.fromkeys(str(FIELDS[reason.field]) for reason in here)):
            told.append(f"{row.skill}: {', '.join(fields)}")
    more = len(told) - _MOST_TOLD
    if more > 0:
        told[_MOST_TOLD:] = [gettext("%(count)s more") % {"count": more}]
    return "; ".join(told)
