"""Presents pin, labels and notes of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from worker.annotations.marks import labels_of
from worker.annotations.notes import may_delete_any, notes_of
from worker.models import Run, RunNote


@dataclass(frozen=True)
class NoteRow:
    note: RunNote
    editable: bool
    deletable: bool


@reader
def annotation_context(run: Run, actor: Actor) -> Reads[dict[str, Any]]:
    """The template context with labels and notes, for readers of the run. Erased runs allow no changes."""
    changeable = run.erased_at is None and (run.team is None or run.team.archived_at is None)
    any_deletable = may_delete_any(run, actor)
    notes = notes_of(run)
    labels, _notes = yield from gather(labels_of.reads([run]), reads_of(notes))
    return {
        "annotatable": changeable,
        "labels": labels.get(run.pk, []),
        "notes": [_row(note, actor, changeable, any_deletable) for note in notes],
    }


def _row(note: RunNote, actor: Actor, changeable: bool, any_deletable: bool) -> NoteRow:
    own = actor.user is not None and note.author_id == actor.user.pk
    return NoteRow(note, editable=changeable and own, deletable=changeable and (own or any_deletable))
