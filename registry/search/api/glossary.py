"""Endpoints that list and edit the glossary of synonyms, which matching uses."""

from dataclasses import asdict

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.identity.permissions import Action, require
from registry.search.glossary import edit
from registry.search.glossary.documents import built_in_lines, entry_document

operation = Operations("glossary")


class FindQuery(PageQuery):
    q = serializers.CharField(
        required=False, max_length=120, help_text="Only entries that contain this text."
    )


class GlossaryEntryRequest(Shape):
    text = StrictText(max_length=edit.MAX_LINE_CHARACTERS, help_text="Synonyms, separated by commas.")


class GlossaryEntryDoc(Doc):
    id = serializers.CharField()
    text = serializers.CharField()
    words = serializers.ListField(child=serializers.CharField())
    updated_by = serializers.CharField(allow_null=True)
    updated_at = serializers.DateTimeField()


class GlossaryChangeDoc(Doc):
    entry = GlossaryEntryDoc(allow_null=True)
    change_id = serializers.CharField(help_text="The id for `/glossary/changes/{id}/undo`.")


class BuiltInEntryDoc(Doc):
    topic = serializers.CharField()
    text = serializers.CharField()


class Glossary(Endpoint):
    required_actions = {"GET": (Action.GLOSSARY,), "POST": (Action.GLOSSARY,)}
    requires_sign_in = True

    @operation(
        "list_glossary",
        "List the site's glossary entries",
        query=FindQuery,
        answer=page_schema(GlossaryEntryDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the site's own glossary entries, newest first. Requires administrator rights and a
        session.
        """
        require(self.actor, Action.GLOSSARY)
        query = read_query(FindQuery, request)
        own = edit.entries(self.actor, find=query.get("q", ""))
        rows, cursor = pagination.newest_first(own, pagination.read_page("glossary", query, kinds=(str,)))
        return etag.document_response(request, page_document([*map(entry_document, rows)], cursor))

    @operation(
        "add_glossary_entry",
        "Add a glossary entry",
        body=GlossaryEntryRequest,
        answer={201: GlossaryChangeDoc},
    )
    @idempotent()
    def post(self, request: Request) -> HttpResponse:
        """Adds a glossary entry, which takes effect with the next match. Requires
        administrator rights and a session.
        """
        require(self.actor, Action.GLOSSARY)
        entry, done = edit.add(read_body(GlossaryEntryRequest, request.data)["text"], self.actor)
        document = {"entry": entry_document(entry), "change_id": done.uid}
        return etag.document_response(request, document, status=201)


class GlossaryDetail(Endpoint):
    required_actions = {"PATCH": (Action.GLOSSARY,), "DELETE": (Action.GLOSSARY,)}
    requires_sign_in = True

    @operation(
        "update_glossary_entry",
        "Update a glossary entry",
        body=GlossaryEntryRequest,
        answer=GlossaryChangeDoc,
    )
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Changes the entry. The audit log keeps the previous text. Requires administrator rights and a
        session.
        """
        entry = edit.find_entry(uid, self.actor)
        etag.require_match(request, entry_document(entry))
        entry, done = edit.change(entry, read_body(GlossaryEntryRequest, request.data)["text"], self.actor)
        return etag.document_response(request, {"entry": entry_document(entry), "change_id": done.uid})

    @operation("delete_glossary_entry", "Delete a glossary entry", answer=GlossaryChangeDoc)
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the entry. The response contains the id with which you can undo the change. Requires
        administrator rights and a session.
        """
        done = edit.remove(edit.find_entry(uid, self.actor), self.actor)
        return etag.document_response(request, {"entry": None, "change_id": done.uid})


class GlossaryUndo(Endpoint):
    required_actions = {"POST": (Action.GLOSSARY,)}
    requires_sign_in = True

    @operation("undo_glossary_change", "Undo a glossary change", answer=GlossaryChangeDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Restores the text of the entry before the change. You can undo this request in the same way.
        Requires administrator rights and a session.
        """
        done = edit.undo(uid, self.actor)
        return etag.document_response(request, {"entry": None, "change_id": done.uid})


class GlossaryFile(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "list_built_in_glossary",
        "List the built-in glossary entries",
        query=FindQuery,
        answer=page_schema(BuiltInEntryDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the built-in glossary entries in file order. They are the same on every site with
        this version of Skillquay.
        """
        query = read_query(FindQuery, request)
        found = built_in_lines(find=query.get("q", ""))
        page = pagination.read_page("glossary file", query, kinds=(int,))
        start = page.after[0] if page.after else 0
        end = start + page.limit
        items = [asdict(line) for line in found[start:end]]
        cursor = page.next_cursor([end]) if end < len(found) else None
        return etag.document_response(request, page_document(items, cursor))
