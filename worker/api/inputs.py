"""Files for runs to come: uploaded as a raw stream or a form, private to their owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import storage
from registry.api import bodies, etags
from registry.api.documents import Doc, api_address
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import read_query
from registry.packages.problems import refuse
from registry.permissions import Action
from worker.api import examples
from worker.api.documents import InputDoc, input_document
from worker.api.shapes import InputQuery
from worker.inputs import store_input
from worker.models import InputFile

FORM = "multipart/form-data"


class InputForm(Doc):
    file = serializers.FileField()


class Inputs(Endpoint):
    parser_classes = [bodies.AnyBytes]
    needs = {"POST": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="upload_input",
        summary="Upload a file for a run",
        tags=["inputs"],
        parameters=[InputQuery],
        request={"application/octet-stream": OpenApiRequest(OpenApiTypes.BINARY), FORM: InputForm},
        responses={201: InputDoc},
        examples=[examples.answers(examples.INPUT, "201")],
    )
    def post(self, request: Request) -> HttpResponse:
        """The body is the file, named by `?name=`; or a form with one file. It is yours alone, and swept
        after a day unless a run holds it."""
        query = read_query(InputQuery, request)
        name, pieces, meaning = _read(request, query.get("name"))

        def act() -> HttpResponse:
            file = store_input(pieces, name, self.actor)
            response = etags.document_response(request, input_document(file), status=201)
            response["Location"] = api_address("inputs", file.uid)
            return response

        return once(request, meaning, act)


def _read(request: Request, name: str | None) -> tuple[str, Iterable[bytes], Any]:
    """The file's name, its bytes as they come, and what tells this request from another with its key.

    With a key the stream is stored before the key is looked at: only its digest tells what it means.
    """
    name, pieces = _named_pieces(request, name)
    if "Idempotency-Key" not in request.headers:
        return name, pieces, None
    digest = storage.store_stream(pieces, limit=settings.SKILLQUAY_INPUT_BYTES).digest
    return name, _blob(digest), [name, digest]


def _named_pieces(request: Request, name: str | None) -> tuple[str, Iterable[bytes]]:
    limit = settings.SKILLQUAY_INPUT_BYTES
    if (request.content_type or "").split(";")[0].strip().lower() != FORM:
        return name or "input", bodies.pieces(request, limit=limit)
    form = bodies.read_form(request, limit=limit + settings.SKILLQUAY_REQUEST_BYTES)
    if not form.parts:
        raise refuse("UPLOAD_EMPTY")
    return name or form.parts[0].path, form.parts[0].pieces()


def _blob(digest: str) -> Iterator[bytes]:
    with storage.open_blob(digest) as file:
        yield from iter(lambda: file.read(bodies.PIECE), b"")


class InputDetail(Endpoint):
    needs = {"GET": (Action.RUN,), "DELETE": (Action.RUN,)}
    signed_in = True

    @extend_schema(
        operation_id="get_input",
        summary="Read about an uploaded file",
        tags=["inputs"],
        responses=InputDoc,
        examples=[examples.answers(examples.INPUT)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Its size, digest and end; its bytes are for runs."""
        return etags.document_response(request, input_document(self._found(uid)))

    @extend_schema(
        operation_id="delete_input", summary="Delete an uploaded file", tags=["inputs"], responses={204: None}
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Runs that hold it keep it."""
        self._found(uid).delete()
        return etags.private(HttpResponse(status=204))

    def _found(self, uid: str) -> InputFile:
        file = InputFile.objects.filter(uid=uid, owner=self.actor.user).first()
        if file is None:
            raise refuse("NOT_FOUND", what="input", name=uid[:80])
        return file
