from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.pagination import last_first, read_page
from registry.api.schema import Query, read_query
from registry.facades import sdk_skills
from registry.facades.anthropic.documents import skill_document, version_document
from registry.facades.endpoint import UnknownAddress, error_text
from registry.facades.sdk_endpoint import SdkContent, SdkEndpoint
from registry.models import Skill

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class AnthropicListQuery(Query):
    limit = serializers.IntegerField(default=20, min_value=1, max_value=1000)
    page = serializers.CharField(required=False, max_length=1000, allow_blank=True)
    source = serializers.CharField(default="custom", max_length=40)  # type: ignore[assignment]  # a field


class _AnthropicEndpoint(SdkEndpoint):
    """Base class of endpoints whose errors have the form of Anthropic's API."""

    team_header = "anthropic-workspace-id"

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        kind = _KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        text = f"{error_text(error)} ({error['code']})"
        return {
            "type": "error",
            "error": {"type": kind, "message": text},
            "request_id": error["request_id"],
        }

    def page(self, name: str) -> Any:
        query = read_query(AnthropicListQuery, self.request, ignore_unknown=True)
        values = {"limit": query["limit"], "cursor": query.get("page"), "source": query["source"]}
        return read_page(name, values, kinds=(int,))

    def document(self, skill: Skill) -> dict[str, Any]:
        return skill_document(skill, self.newest(skill))


@extend_schema(exclude=True)
class AnthropicSkills(_AnthropicEndpoint):
    def get(self, request: Request) -> HttpResponse:
        rows = sdk_skills.list_skills(self.actor)
        if read_query(AnthropicListQuery, request, ignore_unknown=True)["source"] != "custom":
            rows = rows.none()
        found, cursor = last_first(rows, self.page("anthropic-skills"))
        data = [skill_document(skill, skill.latest) for skill in found if skill.latest]
        return etag.document_response(
            request, {"data": data, "has_more": cursor is not None, "next_page": cursor}
        )

    def post(self, request: Request) -> HttpResponse:
        version = self.create(request)
        return etag.document_response(request, skill_document(version.skill, version))


@extend_schema(exclude=True)
class AnthropicSkill(_AnthropicEndpoint):
    def get(self, request: Request, uid: str) -> HttpResponse:
        return etag.document_response(request, self.document(self.find(uid)))

    def delete(self, request: Request, uid: str) -> HttpResponse:
        sdk_skills.delete_skill(self.find(uid), self.actor)
        return etag.document_response(request, {"id": uid, "type": "skill_deleted"})


@extend_schema(exclude=True)
class AnthropicVersions(_AnthropicEndpoint):
    def get(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        rows = sdk_skills.versions_of(skill, self.actor).select_related("skill__team")
        found, cursor = last_first(rows, self.page(f"anthropic-versions:{uid}"))
        data = [version_document(version, skill) for version in found]
        return etag.document_response(
            request, {"data": data, "has_more": cursor is not None, "next_page": cursor}
        )

    def post(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        version = sdk_skills.create_version(request, skill, self.actor)
        return etag.document_response(request, version_document(version, skill))


@extend_schema(exclude=True)
class AnthropicVersion(_AnthropicEndpoint):
    def get(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        return etag.document_response(request, version_document(version, version.skill))

    def delete(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        sdk_skills.delete_version(version, self.actor)
        document = {"id": sdk_skills.version_id(version), "type": "skill_version_deleted"}
        return etag.document_response(request, document)


@extend_schema(exclude=True)
class AnthropicContent(SdkContent, _AnthropicEndpoint):
    pass


@extend_schema(exclude=True)
class AnthropicUnknown(UnknownAddress, _AnthropicEndpoint):
    pass
