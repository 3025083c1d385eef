"""Deletes and exports share links."""

from collections.abc import Iterable, Mapping
from typing import Any

from registry.core.time import rfc3339
from registry.models import User
from worker.models import ShareLink


def erase_runs(keys: Iterable[int]) -> None:
    """Deletes the links to the runs with these primary keys."""
    ShareLink.objects.filter(run__in=list(keys)).delete()


def export_person(user: User) -> Mapping[str, Any]:
    """The links that the person created, without their secrets."""
    rows = ShareLink.objects.filter(created_by=user).order_by("pk")
    found = rows.values_list("run__uid", "created_at", "expires_at").iterator(chunk_size=200)
    return {
        "share_links": (
            {"run": run, "created_at": rfc3339(created), "expires_at": rfc3339(expires)}
            for run, created, expires in found
        )
    }


def erase_person(user: User) -> Iterable[str]:
    """Deletes the links that the person created."""
    ShareLink.objects.filter(created_by=user).delete()
    return ()
