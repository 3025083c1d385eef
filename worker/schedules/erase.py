"""Exports and erases schedules of people, lists their files, and deletes old firings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.core.time import rfc3339
from registry.models import User
from worker.files.inputs import erasable
from worker.models import FiringState, Schedule, ScheduleFiring
from worker.schedules.documents import file_documents

KEEP_FIRINGS = timedelta(days=90)
KEEP_DELETED = timedelta(days=1)
_BATCH = 5_000


def export_person(user: User) -> Mapping[str, Any]:
    """The schedules that run in the person's name, with their requests and files, and the schedules that the
    person created.
    """
    rows = Schedule.objects.filter(run_as=user) | Schedule.objects.filter(created_by=user)
    return {
        "schedules": (
            {
                "id": row.uid,
                "name": row.name,
                "skill": row.skill_label,
                "request": row.request if row.run_as_id == user.pk else None,
                "files": file_documents(row) if row.run_as_id == user.pk else None,
                "state": row.state,
                "pause_reason": row.pause_reason if row.paused_by_id == user.pk else "",
                "created_at": rfc3339(row.created_at),
            }
            for row in rows.distinct().order_by("pk").iterator(chunk_size=100)
        )
    }


def erase_person(user: User) -> Iterable[str]:
    """Deletes the schedules that run in the person's name, and the pause reasons that the person wrote;
    returns the ``erasable`` digests of the schedules' files.
    """
    own = Schedule.objects.filter(run_as=user)
    digests = set(_digests(own.values_list("files", flat=True)))
    own.delete()
    Schedule.objects.filter(paused_by=user).update(pause_reason="")
    return erasable(digests)


def references() -> Iterator[str]:
    """Digests of the files of all schedules, also of deleted ones that can be restored; a digest can occur
    several times.
    """
    return _digests(Schedule.objects.exclude(files=[]).values_list("files", flat=True).iterator())


def _digests(files: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    return (use["digest"] for uses in files for use in uses)


def sweep() -> None:
    """Deletes up to ``_BATCH`` firings older than ``KEEP_FIRINGS``, and schedules that were deleted more than
    ``KEEP_DELETED`` ago. The storage's sweep then removes their files unless another row uses them.
    """
    now = timezone.now()
    old = ScheduleFiring.objects.filter(last_due__lt=now - KEEP_FIRINGS).exclude(state=FiringState.PENDING)
    ScheduleFiring.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:_BATCH])).delete()
    Schedule.objects.filter(deleted_at__lt=now - KEEP_DELETED).delete()
