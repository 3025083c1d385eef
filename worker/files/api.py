"""Endpoints of input files, which are private to their owner."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.documents.skills import Doc, api_url
from registry.api.endpoint import Endpoint
from registry.api.idempotency import run_once
from registry.api.schema import Operations, UploadField, binary_bodies, read_query
from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.storage import blobs
from registry.uploads.uploads import complete_upload
from worker.api.documents.run_requests import InputQuery
from worker.api.documents.runs import InputDoc, input_document
from worker.files.inputs import store_input
from worker.models import InputFile

operation = Operations("inputs")


class InputUploadForm(Doc):
    file = UploadField()


class Inputs(Endpoint):
    parser_classes = [bodies.RawBody]
    required_actions = {"POST": (Action.RUN,)}
    requires_sign_in = True

    @operation(
        "upload_input",
        "Upload a file for a run",
        query=InputQuery,
        body={**binary_bodies(["application/octet-stream", "*/*"]), bodies.FORM_TYPE: InputUploadForm},
        answer={201: InputDoc},
    )
    def post(self, request: Request) -> HttpResponse:
        """Uploads a file for a run. Send the file as the body with `?name=`, as a form with one file, or as
        a complete upload with `?upload=`. Only you can use the file. It is deleted when it expires; runs and
        schedules that use it keep a copy.
        """
        query = read_query(InputQuery, request)
        name, pieces, meaning = _read(request, query, self.actor)

        def act() -> HttpResponse:
            file = store_input(pieces, name, self.actor)
            response = etag.document_response(request, input_document(file), status=201)
            response["Location"] = api_url("inputs", file.uid)
            return response

        return run_once(request, meaning, act)


def _read(request: Request, query: Mapping[str, Any], actor: Actor) -> tuple[str, Iterable[bytes], Any]:
    """The file's name, its bytes as a stream, and a value that identifies the request.

    The value is None without an idempotency key. With a key, the stream is stored first, because only the
    digest identifies the content. Raises UPLOAD_EMPTY for a form without a file, or another Refusal if the
    body is too large or malformed, or the upload can't be used.
    """
    pieces: Iterable[bytes]
    if "upload" in query:
        upload = complete_upload(query["upload"], actor)
        name, pieces = query.get("name") or upload.name, _blob_pieces(upload.digest)
    else:
        name, pieces = _named_pieces(request, query.get("name"))
    if "Idempotency-Key" not in request.headers:
        return name, pieces, None
    digest = blobs.store_stream(pieces, limit=settings.SKILLQUAY_MAX_INPUT_BYTES).digest
    return name, _blob_pieces(digest), [name, digest]


def _named_pieces(request: Request, name: str | None) -> tuple[str, Iterable[bytes]]:
    limit = settings.SKILLQUAY_MAX_INPUT_BYTES
    if bodies.media_type(request) != bodies.FORM_TYPE:
        return name or "input", bodies.body_chunks(request, limit=limit)
    form = bodies.read_form(request, limit=limit + settings.SKILLQUAY_MAX_REQUEST_BYTES)
    if not form.parts:
        raise UPLOAD_EMPTY.refusal()
    return name or form.parts[0].path, form.parts[0].chunks()


def _blob_pieces(digest: str) -> Iterator[bytes]:
    with blobs.open_blob(digest) as file:
        yield from iter(lambda: file.read(bodies.CHUNK_BYTES), b"")


class InputDetail(Endpoint):
    required_actions = {"GET": (Action.RUN,), "DELETE": (Action.RUN,)}
    requires_sign_in = True

    @operation("get_input", "Get an uploaded file's details", answer=InputDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the size, digest and expiry time of the upload. You can't download its content."""
        return etag.document_response(request, input_document(self._find(uid)))

    @operation("delete_input", "Delete an uploaded file")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the upload. Runs and schedules that use it keep a copy."""
        self._find(uid).delete()
        return etag.set_private(HttpResponse(status=204))

    def _find(self, uid: str) -> InputFile:
        file = InputFile.objects.filter(uid=uid, owner=self.actor.user).first()
        if file is None:
            raise NOT_FOUND.refusal(what="input", name=uid[:80])
        return file
