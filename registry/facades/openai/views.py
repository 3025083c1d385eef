from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.errors import CURSOR_INVALID, FIELD_INVALID
from registry.api.schema import Query, Shape, read_query
from registry.facades import sdk_skills
from registry.facades.endpoint import UnknownAddress, error_text, read_known
from registry.facades.openai.documents import list_document, skill_document, version_document
from registry.facades.sdk_endpoint import SdkContent, SdkEndpoint
from registry.models import Skill

_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
Row = TypeVar("Row", bound=Model)


class OpenAIListQuery(Query):
    after = serializers.CharField(required=False, max_length=80)
    limit = serializers.IntegerField(default=20, min_value=0, max_value=100)
    order = serializers.ChoiceField(choices=["asc", "desc"], default="desc")


class DefaultVersionRequest(Shape):
    default_version = serializers.CharField(max_length=64)


class _OpenAIEndpoint(SdkEndpoint):
    """Base class of endpoints whose errors have the form of OpenAI's API."""

    team_header = "OpenAI-Project"

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        document = {
            "message": error_text(error),
            "type": _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error"),
            "param": error["problems"][0].get("path") or None,
            "code": error["code"],
        }
        return {"error": document}

    def document(self, skill: Skill) -> dict[str, Any]:
        return skill_document(skill, self.newest(skill))

    def rows(self, rows: QuerySet[Row]) -> tuple[list[Row], bool]:
        """The requested page, and whether there are more rows. Raises CURSOR_INVALID for an ``after`` that is
        not in the list.
        """
        query = read_query(OpenAIListQuery, self.request, ignore_unknown=True)
        is_ascending = query["order"] == "asc"
        if after := query.get("after"):
            place = rows.filter(uid=after.rpartition("_")[2]).values_list("pk", flat=True).first()
            if place is None:
                raise CURSOR_INVALID.refusal().at("after")
            rows = rows.filter(pk__gt=place) if is_ascending else rows.filter(pk__lt=place)
        limit = query["limit"]
        found = list(rows.order_by("pk" if is_ascending else "-pk")[: limit + 1])
        return found[:limit], len(found) > limit


@extend_schema(exclude=True)
class OpenAISkills(_OpenAIEndpoint):
    def get(self, request: Request) -> HttpResponse:
        found, has_more = self.rows(sdk_skills.list_skills(self.actor))
        data = [skill_document(skill, skill.latest) for skill in found if skill.latest]
        return etag.document_response(request, list_document(data, has_more=has_more))

    def post(self, request: Request) -> HttpResponse:
        version = self.create(request)
        return etag.document_response(request, skill_document(version.skill, version))


@extend_schema(exclude=True)
class OpenAISkill(_OpenAIEndpoint):
    """A skill. Its default version is always the latest one."""

    parser_classes = [bodies.StrictJson, bodies.RawBody]

    def get(self, request: Request, uid: str) -> HttpResponse:
        return etag.document_response(request, self.document(self.find(uid)))

    def post(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        number = read_known(DefaultVersionRequest, request.data)["default_version"]
        if sdk_skills.find_version(skill, number, self.actor).pk != self.newest(skill).pk:
            reason = "The default version is always the latest one. Yank newer versions instead."
            raise FIELD_INVALID.refusal(field="default_version", reason=reason).at("default_version")
        return etag.document_response(request, self.document(skill))

    def delete(self, request: Request, uid: str) -> HttpResponse:
        sdk_skills.delete_skill(self.find(uid), self.actor)
        return etag.document_response(request, {"id": uid, "object": "skill.deleted", "deleted": True})


@extend_schema(exclude=True)
class OpenAIContent(SdkContent, _OpenAIEndpoint):
    """The archive of a version, by default of the latest one."""


@extend_schema(exclude=True)
class OpenAIVersions(_OpenAIEndpoint):
    def get(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        rows = sdk_skills.versions_of(skill, self.actor).select_related("skill__team")
        found, has_more = self.rows(rows)
        data = [version_document(version, skill) for version in found]
        return etag.document_response(request, list_document(data, has_more=has_more))

    def post(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        version = sdk_skills.create_version(request, skill, self.actor)
        return etag.document_response(request, version_document(version, skill))


@extend_schema(exclude=True)
class OpenAIVersion(_OpenAIEndpoint):
    def get(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        return etag.document_response(request, version_document(version, version.skill))

    def delete(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        sdk_skills.delete_version(version, self.actor)
        document = {"id": sdk_skills.version_id(version), "object": "skill.version.deleted", "deleted": True}
        return etag.document_response(request, {**document, "version": version.number})


@extend_schema(exclude=True)
class OpenAIUnknown(UnknownAddress, _OpenAIEndpoint):
    pass
