"""Endpoints of a run's notes. Pins and labels are changed at ``PATCH /runs/{id}``."""

from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, read_body
from registry.identity.permissions import Action
from worker.annotations.notes import add_note, delete_note, edit_note, find_note, notes_of
from worker.api.documents.annotations import RunNoteDoc, RunNoteRequest, RunNotesDoc, note_document
from worker.api.documents.find_run import find_readable_run

operation = Operations("runs")


class RunNotes(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN), "POST": (Action.RUN,)}
    requires_sign_in = True

    @operation("list_run_notes", "List a run's notes", answer=RunNotesDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Lists the notes, oldest first. You must be able to read the run."""
        run = find_readable_run(uid, self.actor)
        return etag.document_response(request, {"items": [*map(note_document, notes_of(run))]})

    @operation("add_run_note", "Add a note to a run", body=RunNoteRequest, answer={201: RunNoteDoc})
    @idempotent(RunNoteRequest)
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Adds a note that everyone with access to the run's content can read. Viewers can add notes only to
        their own runs. The note is deleted when the run's content is erased.
        """
        run = find_readable_run(uid, self.actor)
        note = add_note(run, read_body(RunNoteRequest, request.data)["text"], self.actor)
        return etag.document_response(request, note_document(note), status=201)


class RunNoteDetail(Endpoint):
    required_actions = {"PATCH": (Action.RUN,), "DELETE": (Action.RUN,)}
    requires_sign_in = True

    @operation("edit_run_note", "Edit a note", body=RunNoteRequest, answer=RunNoteDoc)
    def patch(self, request: Request, uid: str, note: str) -> HttpResponse:
        """Replaces the text of your own note."""
        found = find_note(find_readable_run(uid, self.actor), note)
        text = read_body(RunNoteRequest, request.data)["text"]
        return etag.document_response(request, note_document(edit_note(found, text, self.actor)))

    @operation("delete_run_note", "Delete a note")
    def delete(self, request: Request, uid: str, note: str) -> HttpResponse:
        """Deletes your own note, or any note if you maintain the run's team or are an administrator."""
        delete_note(find_note(find_readable_run(uid, self.actor), note), self.actor)
        return etag.set_private(HttpResponse(status=204))
