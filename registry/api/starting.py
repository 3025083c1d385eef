"""Starting a skill: the kinds there are, and a small package of each to begin with."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etags, examples
from registry.api.attachments import attachment
from registry.api.documents import Doc, api_address
from registry.api.endpoint import Endpoint
from registry.api.shapes import Query, read_query
from registry.packages.naming import NAME_CHARACTERS, SLUG_CHARACTERS
from registry.packages.package import PackageFile
from registry.packages.repack import digest_of, repack
from registry.packages.starting import DESCRIPTION_CHARACTERS, KINDS, LANGUAGES, Kind, Start, start

_EXAMPLE = {
    "kind": "python",
    "title": "Python",
    "summary": "A script that is called with --arguments.",
    "files": ["SKILL.md", "scripts/measure.py"],
    "archive_url": "https://skills.example/api/v1/kinds/archive?kind=python",
}


class KindDoc(Doc):
    kind = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    files = serializers.ListField(child=serializers.CharField(), help_text="Paths, for a skill `my-skill`.")
    archive_url = serializers.URLField(help_text="Add `?name=`.")


class KindsDoc(Doc):
    items = KindDoc(many=True)


class StartQuery(Query):
    kind = serializers.CharField(max_length=40)
    name = serializers.CharField(
        max_length=SLUG_CHARACTERS, help_text="Small letters, digits, single hyphens."
    )
    title = serializers.CharField(required=False, allow_blank=True, max_length=NAME_CHARACTERS)
    description = serializers.CharField(required=False, allow_blank=True, max_length=DESCRIPTION_CHARACTERS)
    language = serializers.ChoiceField(default="en", choices=LANGUAGES)


class Kinds(Endpoint):
    @extend_schema(
        operation_id="list_kinds",
        summary="The kinds of skill to start with",
        tags=["packages"],
        responses=KindsDoc,
        examples=[examples.answers({"items": [_EXAMPLE]})],
    )
    def get(self, request: Request) -> HttpResponse:
        """Each starts a package that conforms and runs."""
        return etags.document_response(request, {"items": [_document(kind) for kind in KINDS]})


class KindArchive(Endpoint):
    @extend_schema(
        operation_id="start_skill",
        summary="Start a skill",
        tags=["packages"],
        parameters=[StartQuery],
        responses={
            (200, "application/zip"): OpenApiResponse(
                OpenApiTypes.BINARY, description="The bytes, as an attachment."
            )
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """A zip to change and to publish; nothing is kept. The same question gets the same bytes."""
        given = Start(**read_query(StartQuery, request))
        data = repack(PackageFile(f"{given.name}/{f.path}", f.data, f.executable) for f in start(given))
        return zip_response(request, data, f"{given.name}.zip")


def zip_response(request: Request, data: bytes, name: str) -> HttpResponse:
    """An archive made for this answer, private to who asked; its digest is its ETag."""
    etag = f'"{digest_of(data)}"'
    if unchanged := etags.not_modified(request, etag):
        return unchanged
    response = attachment(HttpResponse(data, content_type="application/zip"), name, etag)
    response["X-Digest"] = digest_of(data)
    return etags.private(response)


def _document(kind: Kind) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "title": gettext(kind.title),
        "summary": gettext(kind.summary),
        "files": [file.path for file in start(Start(kind.name, "my-skill"))],
        "archive_url": api_address("kinds", "archive") + f"?kind={kind.name}",
    }
