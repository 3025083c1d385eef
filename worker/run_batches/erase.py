"""Exports and erases run batches of people, and deletes old batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.core.time import rfc3339
from registry.models import User
from worker.models import RunBatch

KEEP_BATCHES = timedelta(days=90)
_AT_ONCE = 50  # with up to 1,000 items each


def export_person(user: User) -> Mapping[str, Any]:
    """The batches that the person started."""
    return {
        "run_batches": (
            {
                "id": row.uid,
                "action": row.action,
                "version": row.version,
                "filter": row.filter,
                "inputs": row.inputs,
                "state": row.state,
                "created_at": rfc3339(row.created_at),
            }
            for row in RunBatch.objects.filter(user=user).order_by("pk").iterator(chunk_size=100)
        )
    }


def erase_person(user: User) -> Iterable[str]:
    """Deletes the batches that the person started; their runs stay."""
    RunBatch.objects.filter(user=user).delete()
    return ()


def sweep() -> None:
    """Deletes up to ``_AT_ONCE`` batches that ended more than ``KEEP_BATCHES`` ago."""
    old = RunBatch.objects.filter(finished_at__lt=timezone.now() - KEEP_BATCHES).order_by("pk")
    RunBatch.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:_AT_ONCE])).delete()
