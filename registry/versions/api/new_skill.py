from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag as etags
from registry.api.attachments import ZIP_TYPES, ZIP_VARY, make_zip_attachment
from registry.api.documents.skills import Doc, api_url
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, Query, binary_answer, read_query
from registry.packages.archive.repack import digest_of, repack
from registry.packages.authoring.new_skill import (
    LANGUAGES,
    MAX_DESCRIPTION_LENGTH,
    TEMPLATES,
    NewSkill,
    SkillTemplate,
    create_files,
)
from registry.packages.manifest.naming import MAX_NAME_LENGTH, MAX_SLUG_LENGTH
from registry.packages.package import PackageFile

operation = Operations("packages")


class SkillTemplateDoc(Doc):
    template = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    files = serializers.ListField(
        child=serializers.CharField(), help_text="Paths of the files, for a skill named `my-skill`."
    )
    archive_url = serializers.URLField(help_text="The URL of the zip; add `?name=` with the skill's name.")


class SkillTemplatesDoc(Doc):
    items = SkillTemplateDoc(many=True)


class StartQuery(Query):
    template = serializers.CharField(max_length=40)
    name = serializers.CharField(
        max_length=MAX_SLUG_LENGTH,
        help_text="The skill's name: lowercase letters, digits and single hyphens.",
    )
    title = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NAME_LENGTH)
    description = serializers.CharField(required=False, allow_blank=True, max_length=MAX_DESCRIPTION_LENGTH)
    language = serializers.ChoiceField(default="en", choices=LANGUAGES)


class SkillTemplates(Endpoint):
    @operation("list_templates", "List skill templates", answer=SkillTemplatesDoc)
    def get(self, request: Request) -> HttpResponse:
        """Lists the templates for new skills. Every template is a valid, runnable package."""
        return etags.document_response(request, {"items": [_document(kind) for kind in TEMPLATES]})


class SkillTemplateArchive(Endpoint):
    @operation(
        "download_template",
        "Download a new skill",
        query=StartQuery,
        answer=binary_answer(*ZIP_TYPES),
    )
    def get(self, request: Request) -> HttpResponse:
        """Returns a zip that you can edit and publish. The site stores nothing. The same query returns the
        same bytes.
        """
        options = NewSkill(**read_query(StartQuery, request))
        data = repack(
            PackageFile(f"{options.name}/{f.path}", f.data, f.executable) for f in create_files(options)
        )
        return zip_response(request, data, f"{options.name}.zip")


def zip_response(request: Request, data: bytes, name: str) -> HttpResponse:
    """A response with a generated zip as an attachment, which only the client may cache. Its ETag is the
    zip's digest; 304 if If-None-Match has this ETag.
    """
    etag = f'"{digest_of(data)}"'
    if unchanged := etags.not_modified(request, etag, vary=ZIP_VARY):
        return unchanged
    response = make_zip_attachment(HttpResponse(data), request, name, etag)
    response["X-Digest"] = digest_of(data)
    return etags.set_private(response)


def _document(kind: SkillTemplate) -> dict[str, Any]:
    return {
        "template": kind.name,
        "title": gettext(kind.title),
        "summary": gettext(kind.summary),
        "files": [file.path for file in create_files(NewSkill(kind.name, "my-skill"))],
        "archive_url": api_url("templates", "archive") + f"?template={kind.name}",
    }
