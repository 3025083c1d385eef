"""Bodies of requests that start an import: JSON, or an archive as the body, in a form or as an upload."""

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies
from registry.api.documents.skills import Doc
from registry.api.errors import BODY_TOO_LARGE, MEDIA_TYPE_UNSUPPORTED
from registry.api.schema import Shape, StrictText, UploadField, UploadQuery, WaitQuery, read_body, read_query
from registry.core.errors import UPLOAD_EMPTY
from registry.identity.actors import Actor
from registry.imports.errors import TEAM_REQUIRED
from registry.models import SourceKind, Visibility
from registry.uploads.uploads import read_content

ARCHIVES = ("application/zip", "application/gzip", "application/x-gzip", "application/octet-stream")
JSON = "application/json"


class ImportRequest(Shape):
    team = StrictText(max_length=64)
    kind = serializers.ChoiceField(
        choices=[kind for kind in SourceKind.choices if kind[0] != SourceKind.ARCHIVE]
    )
    location = StrictText(max_length=2000, help_text="A URL; for administrators also a path on the server.")
    options = serializers.DictField(
        required=False,
        help_text="Options of this kind of source, such as branch, tags, path, recursive, paths "
        "and allow_external.",
    )
    visibility = serializers.ChoiceField(
        required=False,
        choices=Visibility.choices,
        help_text="The visibility of new skills; default: private. Other values require the maintainer role.",
    )
    interval_s = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="Seconds between scheduled imports, at least 300; not for folders. If absent, the "
        "source is imported only on request.",
    )


class ImportArchiveQuery(WaitQuery, UploadQuery):
    team = serializers.CharField(
        required=False, max_length=64, help_text="The team to import into; required for an archive."
    )
    filename = serializers.CharField(
        required=False, max_length=255, help_text="The name of the uploaded archive."
    )
    visibility = serializers.ChoiceField(required=False, choices=Visibility.choices)


class ArchiveUploadForm(Doc):
    archive = UploadField(help_text="A zip or tar.gz. Its file name replaces an absent `filename`.")
    team = serializers.CharField(required=False, help_text="Replaces an absent query parameter.")
    visibility = serializers.ChoiceField(
        required=False, choices=Visibility.choices, help_text="Replaces an absent query parameter."
    )


def read_import_request(request: Request, actor: Actor) -> tuple[dict[str, Any], bytes | None]:
    """The validated import request, and the bytes of the archive or None for a JSON body. Raises
    UPLOAD_EMPTY for an empty body or a form without an archive, MEDIA_TYPE_UNSUPPORTED for any other type,
    and TEAM_REQUIRED for an archive without a team. Also raises the errors of the body and the query.
    """
    kind = bodies.media_type(request)
    limit = settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES
    if kind == bodies.FORM_TYPE:
        return _read_form(request, limit)
    query = read_query(ImportArchiveQuery, request)
    if "upload" not in query:
        if not bodies.content_length(request):
            raise UPLOAD_EMPTY.refusal()
        if kind == JSON:
            body = b"".join(bodies.body_chunks(request, limit=settings.SKILLQUAY_MAX_REQUEST_BYTES))
            return read_body(ImportRequest, bodies.strict_json(body)), None
        if kind not in ARCHIVES:
            accepted = (JSON, *ARCHIVES, bodies.FORM_TYPE)
            raise MEDIA_TYPE_UNSUPPORTED.refusal(type=kind[:100] or "-", accepted=accepted)
    if "team" not in query:
        raise TEAM_REQUIRED.refusal().at("team")
    if "upload" in query:
        name, content = read_content(query["upload"], actor, limit=limit)
    else:
        name, content = "", b"".join(bodies.body_chunks(request, limit=limit))
    return _archive_import(query, query.get("filename") or name), content


def _read_form(request: Request, limit: int) -> tuple[dict[str, Any], bytes]:
    form = bodies.read_form(request, limit=limit + settings.SKILLQUAY_MAX_REQUEST_BYTES)
    query = read_query(ImportArchiveQuery, request, defaults=form.fields)
    if "team" not in query:
        raise TEAM_REQUIRED.refusal().at("team")
    archive = next(iter(form.parts_of("archive")), None)
    if archive is None or not (content := archive.read()):
        raise UPLOAD_EMPTY.refusal()
    if len(content) > limit:
        raise BODY_TOO_LARGE.refusal(limit=limit)
    return _archive_import(query, query.get("filename") or archive.path.rpartition("/")[2]), content


def _archive_import(query: dict[str, Any], name: str) -> dict[str, Any]:
    return {**query, "kind": SourceKind.ARCHIVE.value, "location": name}
