"""Endpoints of uploads in chunks, which are private to their owner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag, pagination
from registry.api.documents.skills import Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import (
    Operations,
    PageQuery,
    Query,
    Shape,
    StrictText,
    UploadField,
    binary_bodies,
    read_body,
    read_query,
)
from registry.core.errors import UPLOAD_EMPTY
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from registry.models import ResumableUpload
from registry.uploads import uploads
from registry.uploads.uploads import MAX_CHUNK_BYTES, MAX_KEY, MIN_CHUNK_BYTES

operation = Operations("uploads")
_SCOPES = (Action.RUN, Action.PUBLISH)


class UploadRequest(Shape):
    name = StrictText(max_length=255, help_text="The file's name.")
    size = serializers.IntegerField(min_value=0, help_text="Bytes of the whole file.")
    key = StrictText(
        required=False,
        allow_blank=True,
        max_length=MAX_KEY,
        help_text="A text that identifies the file for you, such as its path and modification time. A "
        "request with the same key, name, size and digest returns the same upload.",
    )
    digest = serializers.RegexField(
        r"^sha256:[0-9a-f]{64}\Z",
        required=False,
        help_text="The file's SHA-256 as `sha256:…`, which is compared when the upload is complete.",
    )


class ChunkQuery(Query):
    offset = serializers.IntegerField(min_value=0, default=0, help_text="`received` of the upload.")


class ChunkUploadForm(Doc):
    chunk = UploadField()


class UploadDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes of the whole file.")
    received = serializers.IntegerField(help_text="Bytes received so far; the offset of the next chunk.")
    is_complete = serializers.BooleanField(help_text="Whether the upload can be used.")
    digest = serializers.CharField(allow_null=True, help_text="SHA-256 of the file; null until complete.")
    expires_at = serializers.DateTimeField(help_text="Each chunk extends the time.")
    url = serializers.URLField()


class Uploads(Endpoint):
    required_actions = {"GET": _SCOPES, "POST": _SCOPES}
    requires_sign_in = True

    @operation("list_uploads", "List uploads", query=PageQuery, answer=page_schema(UploadDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists your uploads, newest first. Expired ones are not listed."""
        page = pagination.read_page("uploads", read_query(PageQuery, request), kinds=(str,))
        rows, cursor = pagination.newest_first(uploads.current_uploads(self.actor), page)
        return etag.document_response(request, page_document([*map(_document, rows)], cursor))

    @operation(
        "begin_upload",
        "Begin an upload in chunks",
        body=UploadRequest,
        answer={200: UploadDoc, 201: UploadDoc},
    )
    @idempotent(UploadRequest)
    def post(self, request: Request) -> HttpResponse:
        """Begins an upload that can continue after an interruption. Send the chunks with PUT, beginning at
        `received`. Returns 200 instead of 201 if `key` names an earlier upload of yours. Use a complete
        upload by its id: as `upload` of `/packages`, `/imports` or `/inputs`.
        """
        upload, created = uploads.begin_upload(self.actor, **read_body(UploadRequest, request.data))
        response = etag.document_response(request, _document(upload), status=201 if created else 200)
        response["Location"] = api_url("uploads", upload.uid)
        return response


class UploadDetail(Endpoint):
    parser_classes = [bodies.RawBody]
    required_actions = {"GET": _SCOPES, "PUT": _SCOPES, "DELETE": _SCOPES}
    requires_sign_in = True

    @operation("get_upload", "Get an upload", answer=UploadDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the upload. Only its owner can see it."""
        return etag.document_response(request, _document(uploads.find_upload(uid, self.actor)))

    @operation(
        "append_chunk",
        "Add a chunk to an upload",
        query=ChunkQuery,
        body={**binary_bodies(["application/octet-stream", "*/*"]), bodies.FORM_TYPE: ChunkUploadForm},
        answer=UploadDoc,
    )
    def put(self, request: Request, uid: str) -> HttpResponse:
        """Adds the body as the next chunk. Repeating a chunk changes nothing. If the upload has another
        number of bytes than `offset`, returns 409 `UPLOAD_OFFSET_CONFLICT`. The last chunk completes the
        upload; if the content has another digest than announced, the upload is deleted.
        """
        offset = read_query(ChunkQuery, request)["offset"]
        upload = uploads.append_chunk(uploads.find_upload(uid, self.actor), offset, _chunk(request))
        return etag.document_response(request, _document(upload))

    @operation("discard_upload", "Discard an upload")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the upload. Inputs, versions and imports that used it stay."""
        uploads.discard_upload(uploads.find_upload(uid, self.actor))
        return etag.set_private(HttpResponse(status=204))


def _chunk(request: Request) -> Iterable[bytes]:
    if bodies.media_type(request) != bodies.FORM_TYPE:
        return bodies.body_chunks(request, limit=MAX_CHUNK_BYTES)
    form = bodies.read_form(request, limit=MAX_CHUNK_BYTES + MIN_CHUNK_BYTES)
    if not form.parts:
        raise UPLOAD_EMPTY.refusal()
    return form.parts[0].chunks()


def _document(upload: ResumableUpload) -> dict[str, Any]:
    return {
        "id": upload.uid,
        "name": upload.name,
        "size": upload.size,
        "received": upload.received,
        "is_complete": bool(upload.digest),
        "digest": upload.digest or None,
        "expires_at": rfc3339(upload.expires_at),
        "url": api_url("uploads", upload.uid),
    }
