"""Notes on runs, for everyone who can read the run's content."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may
from worker.annotations.access import lock_for_change
from worker.annotations.errors import RUN_NOTE_INVALID, RUN_NOTES_TOO_MANY
from worker.models import Run, RunNote

MAX_NOTES = 100
MAX_NOTE_LENGTH = 5_000


def notes_of(run: Run) -> QuerySet[RunNote]:
    """The run's notes with their authors, oldest first."""
    return run.notes.select_related("author").order_by("pk")


def find_note(run: Run, uid: str) -> RunNote:
    """The run's note with this uid; raises NOT_FOUND if there is none."""
    note = notes_of(run).filter(uid=uid).first()
    if note is None:
        raise NOT_FOUND.refusal(what="note", name=uid[:80])
    return note


def add_note(run: Run, text: str, actor: Actor) -> RunNote:
    """Adds a note. Raises RUN_NOTE_INVALID for an empty, too long or unstorable text, RUN_NOTES_TOO_MANY
    above ``MAX_NOTES``, and the refusals of ``lock_for_change``.
    """
    text = _validated_text(text)
    with transaction.atomic():
        row = lock_for_change(run, actor)
        if row.notes.count() >= MAX_NOTES:
            raise RUN_NOTES_TOO_MANY.refusal(limit=MAX_NOTES)
        return RunNote.objects.create(run=row, author=actor.user, text=text, created_at=timezone.now())


def edit_note(note: RunNote, text: str, actor: Actor) -> RunNote:
    """Replaces the text of the actor's own note. Raises FORBIDDEN for a note of another person,
    RUN_NOTE_INVALID for an invalid text, and the refusals of ``lock_for_change``.
    """
    text = _validated_text(text)
    with transaction.atomic():
        lock_for_change(note.run, actor)
        if not _is_author(note, actor):
            raise FORBIDDEN.refusal(action="edit another person's note")
        RunNote.objects.filter(pk=note.pk).update(text=text, edited_at=timezone.now())
    note.refresh_from_db(fields=["text", "edited_at"])
    return note


def delete_note(note: RunNote, actor: Actor) -> None:
    """Deletes the actor's note or, with an audit entry, another person's note if ``may_delete_any``.

    Raises FORBIDDEN for other notes, and the refusals of ``lock_for_change``.
    """
    with transaction.atomic():
        row = lock_for_change(note.run, actor)
        if not _is_author(note, actor):
            if not may_delete_any(row, actor):
                raise FORBIDDEN.refusal(action="delete another person's note")
            audit.record(actor, "run.delete_note", row.uid, team=row.team)
        note.delete()


def may_delete_any(run: Run, actor: Actor) -> bool:
    return actor.is_administrator or (run.team is not None and may(actor, Action.REVIEW, team=run.team))


def _is_author(note: RunNote, actor: Actor) -> bool:
    return actor.user is not None and note.author_id == actor.user.pk


def _validated_text(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not 0 < len(text) <= MAX_NOTE_LENGTH or "\0" in text:
        raise RUN_NOTE_INVALID.refusal(limit=MAX_NOTE_LENGTH).at("text")
    return text
