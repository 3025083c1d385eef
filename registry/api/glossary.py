"""The glossary: words that mean the same, so that a request finds skills that say it otherwise."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import cursors, etags, examples
from registry.api.documents import Doc, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictText, read_body, read_query
from registry.glossary import editing
from registry.glossary.documents import built_in_lines, entry_document
from registry.permissions import Action, require

_ENTRY: dict[str, Any] = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p77",
    "text": "invoice, receipt, 发票",
    "words": ["invoice", "receipt", "发票"],
    "by": "alice",
    "at": "2026-11-20T09:30:00.000000Z",
}
_CHANGED = {"entry": _ENTRY, "change": "01kajq3s5d8m6v9x2c4b7n1p88"}


class FindQuery(PageQuery):
    q = serializers.CharField(required=False, max_length=120, help_text="A part of the line.")


class LineBody(Shape):
    text = StrictText(max_length=editing.MOST_CHARACTERS, help_text="Words that mean the same, by commas.")


class EntryDoc(Doc):
    id = serializers.CharField()
    text = serializers.CharField()
    words = serializers.ListField(child=serializers.CharField())
    by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()


class ChangedDoc(Doc):
    entry = EntryDoc(allow_null=True)
    change = serializers.CharField(help_text="What `/glossary/changes/{id}/undo` takes back.")


class GlossaryLineDoc(Doc):
    about = serializers.CharField()
    text = serializers.CharField()


class Glossary(Endpoint):
    needs = {"GET": (Action.GLOSSARY,), "POST": (Action.GLOSSARY,)}
    signed_in = True

    @extend_schema(
        operation_id="list_glossary",
        summary="List the site's own lines",
        tags=["glossary"],
        parameters=[FindQuery],
        responses=page_shape(EntryDoc),
        examples=[examples.answers(examples.page(_ENTRY))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The newest first. For administrators, in a session."""
        require(self.actor, Action.GLOSSARY)
        query = read_query(FindQuery, request)
        own = editing.entries(self.actor, find=query.get("q", ""))
        rows, cursor = cursors.newest_first(own, cursors.page_of("glossary", query, kinds=(str,)))
        return etags.document_response(request, page_document([*map(entry_document, rows)], cursor))

    @extend_schema(
        operation_id="add_glossary_line",
        summary="Say which words mean the same",
        tags=["glossary"],
        request=LineBody,
        responses={201: ChangedDoc},
        examples=[examples.asks({"text": "invoice, receipt, 发票"}), examples.answers(_CHANGED, "201")],
    )
    def post(self, request: Request) -> HttpResponse:
        """Counts in the next match. A line that says no more than another is refused."""

        def act() -> HttpResponse:
            require(self.actor, Action.GLOSSARY)
            entry, done = editing.add(read_body(LineBody, request.data)["text"], self.actor)
            document = {"entry": entry_document(entry), "change": done.uid}
            return etags.document_response(request, document, status=201)

        return once(request, request.data, act)


class GlossaryDetail(Endpoint):
    needs = {"PATCH": (Action.GLOSSARY,), "DELETE": (Action.GLOSSARY,)}
    signed_in = True

    @extend_schema(
        operation_id="change_glossary_line",
        summary="Change a line",
        tags=["glossary"],
        request=LineBody,
        responses=ChangedDoc,
        examples=[examples.asks({"text": "invoice, receipt, 发票"}), examples.answers(_CHANGED)],
    )
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """What it said before stands in the audit trail."""
        entry = editing.find_entry(uid, self.actor)
        etags.require_match(request, entry_document(entry))
        entry, done = editing.change(entry, read_body(LineBody, request.data)["text"], self.actor)
        return etags.document_response(request, {"entry": entry_document(entry), "change": done.uid})

    @extend_schema(
        operation_id="remove_glossary_line",
        summary="Remove a line",
        tags=["glossary"],
        responses={200: ChangedDoc},
        examples=[examples.answers({**_CHANGED, "entry": None})],
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """The answer names the change, so that it can be undone."""
        done = editing.remove(editing.find_entry(uid, self.actor), self.actor)
        return etags.document_response(request, {"entry": None, "change": done.uid})


class GlossaryUndo(Endpoint):
    needs = {"POST": (Action.GLOSSARY,)}
    signed_in = True

    @extend_schema(
        operation_id="undo_glossary_change",
        summary="Take a change back",
        tags=["glossary"],
        request=None,
        responses=ChangedDoc,
        examples=[examples.answers({**_CHANGED, "entry": None})],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """What was there before is there again; the taking back is a change, too."""

        def act() -> HttpResponse:
            done = editing.undo(uid, self.actor)
            return etags.document_response(request, {"entry": None, "change": done.uid})

        return once(request, {}, act)


class GlossaryFile(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_built_in_glossary",
        summary="List the lines that came with the site",
        tags=["glossary"],
        parameters=[FindQuery],
        responses=page_shape(GlossaryLineDoc),
        examples=[
            examples.answers(examples.page({"about": "Documents and office", "text": "pdf, 便携文档"}))
        ],
    )
    def get(self, request: Request) -> HttpResponse:
        """In the order of their file; they are the same on every site of this version."""
        query = read_query(FindQuery, request)
        found = built_in_lines(find=query.get("q", ""))
        page = cursors.page_of("glossary file", query, kinds=(int,))
        start = page.after[0] if page.after else 0
        end = start + page.limit
        items = [asdict(line) for line in found[start:end]]
        cursor = page.next_cursor([end]) if end < len(found) else None
        return etags.document_response(request, page_document(items, cursor))
