from typing import Any

from rest_framework import serializers

from registry.api.documents.doc import Doc
from registry.api.schema import Shape, StrictBoolean, StrictText
from registry.core.time import rfc3339
from worker.models import RunNote


class RunChange(Shape):
    pinned = StrictBoolean(
        required=False, help_text="Whether the run is pinned; retention never removes pinned runs."
    )
    labels = serializers.ListField(
        child=StrictText(max_length=200),
        required=False,
        max_length=100,
        help_text="Replaces all labels. A label has at most 40 characters and is stored in lower case.",
    )


class RunNoteRequest(Shape):
    text = StrictText(max_length=20_000, help_text="The text of the note, at most 5,000 characters.")


class RunNoteDoc(Doc):
    id = serializers.CharField()
    author = serializers.CharField(allow_null=True)
    text = serializers.CharField()
    created_at = serializers.DateTimeField()
    edited_at = serializers.DateTimeField(allow_null=True)


class RunNotesDoc(Doc):
    items = RunNoteDoc(many=True)


def note_document(note: RunNote) -> dict[str, Any]:
    return {
        "id": note.uid,
        "author": note.author.username if note.author else None,
        "text": note.text,
        "created_at": rfc3339(note.created_at),
        "edited_at": rfc3339(note.edited_at),
    }
