"""The texts of notifications, in the active language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from worker.models import REVIEW_KINDS, SCHEDULE_KINDS, NotificationEvent, NotificationKind

Kind = NotificationKind


@dataclass(frozen=True)
class NotificationText:
    """The text of one notification: a title, a line of facts without personal content, and the URL of its
    page.
    """

    title: str
    line: str
    path: str

    @property
    def url(self) -> str:
        return absolute_url(self.path)


def text_of(event: NotificationEvent) -> NotificationText:
    """The text for people who can see the event. It omits inputs, message and result, because people who can
    see that a run failed may not be able to read its content.
    """
    return NotificationText(_title(event), _line(event), _path(event))


def event_document(event: NotificationEvent) -> dict[str, Any]:
    """The event as an API document, without its recipient. The title is English, like error messages in the
    API.
    """
    run, version = event.run, event.version
    with override("en"):
        text = text_of(event)
    number = version.number if version else run.version_number if run else None
    return {
        "id": event.uid,
        "kind": event.kind,
        "title": text.title,
        "skill": run.skill_label if run else str(event.skill) if event.skill else None,
        "version": number,
        "run": run.uid if run else None,
        "failure_code": run.failure_code or None if run else None,
        "schedule": event.schedule.uid if event.schedule else None,
        "at": rfc3339(event.at),
        "page_url": text.url,
    }


def _title(event: NotificationEvent) -> str:
    names = {"skill": _skill(event), "name": event.schedule.name if event.schedule else ""}
    match event.kind:
        case Kind.RUN_FAILED:
            return _("%(skill)s failed again") % names
        case Kind.FIRST_FAILURE:
            return _("%(skill)s failed") % names
        case Kind.RECOVERED:
            return _("%(skill)s works again") % names
        case Kind.APPROVAL:
            return _("A run of %(skill)s needs approval") % names
        case Kind.SCHEDULE_MISSED:
            return _("The schedule %(name)s missed runs") % names
        case Kind.SCHEDULE_PAUSED:
            return _("The schedule %(name)s was paused") % names
        case Kind.VERSION_HELD:
            return _("%(skill)s is held for review") % names
        case _other:
            return _("%(skill)s was reported") % names


def _line(event: NotificationEvent) -> str:
    if event.kind in SCHEDULE_KINDS:
        count = int(event.details.get("count", 0))
        missed = ngettext("%(count)s missed run", "%(count)s missed runs", count) % {"count": count}
        return missed if event.kind == Kind.SCHEDULE_MISSED else str(event.details.get("code", ""))
    if event.kind in REVIEW_KINDS or event.run is None:
        return str(event.details.get("reason", ""))
    run = _("Run #%(number)s, version %(version)s") % {
        "number": event.run.number,
        "version": event.run.version_number,
    }
    code = event.run.failure_code
    return _("%(run)s: %(code)s") % {"run": run, "code": code} if code else run


def _skill(event: NotificationEvent) -> str:
    if event.version:
        return str(event.version)
    return event.run.skill_label if event.run else str(event.skill or "")


def _path(event: NotificationEvent) -> str:
    if event.schedule:
        return f"/schedules/{event.schedule.uid}/"
    if event.version:
        return f"/skills/{event.version.skill}/{event.version.number}/findings/"
    return f"/runs/{event.run.uid}/" if event.run else "/"
