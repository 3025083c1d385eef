"""Erases and exports labels and notes."""

from collections.abc import Iterable, Mapping
from typing import Any

from registry.core.time import rfc3339
from registry.models import User
from worker.models import RunLabel, RunNote


def erase_runs(keys: Iterable[int]) -> None:
    """Deletes the labels and notes of the runs with these primary keys, because they can repeat
    the content.
    """
    keys = list(keys)
    RunLabel.objects.filter(run__in=keys).delete()
    RunNote.objects.filter(run__in=keys).delete()


def export_person(user: User) -> Mapping[str, Any]:
    """The notes that the person wrote on any run."""
    notes = RunNote.objects.filter(author=user).order_by("pk").values_list("run__uid", "text", "created_at")
    return {
        "run_notes": (
            {"run": run, "text": text, "created_at": rfc3339(at)}
            for run, text, at in notes.iterator(chunk_size=200)
        )
    }


def erase_person(user: User) -> Iterable[str]:
    """Deletes the notes that the person wrote."""
    RunNote.objects.filter(author=user).delete()
    return ()
