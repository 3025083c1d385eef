from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.errors import PATH_UNKNOWN
from registry.api.pagination import last_first, read_page
from registry.api.schema import Query, read_query
from registry.facades import sdk_skills
from registry.facades.anthropic.documents import skill_document, version_document
from registry.facades.downloads import archive_response
from registry.facades.endpoint import FacadeEndpoint
from registry.identity.permissions import Action
from registry.models import Skill, Version
from registry.rates.limits import RateLimit

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
_TEAM_HEADER = "anthropic-workspace-id"  # names the team that publishes


class AnthropicListQuery(Query):
    limit = serializers.IntegerField(default=20, min_value=1, max_value=1000)
    page = serializers.CharField(required=False, max_length=1000, allow_blank=True)
    source = serializers.CharField(default="custom", max_length=40)  # type: ignore[assignment]  # a field


class _AnthropicEndpoint(FacadeEndpoint):
    """Base class of endpoints whose errors have the form of Anthropic's API."""

    required_actions = {"GET": (Action.SEE,), "POST": (Action.PUBLISH,), "DELETE": (Action.RELEASE,)}
    rate_limits = {"POST": RateLimit.PUBLISH}
    parser_classes = [bodies.RawBody]

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        document = json.loads(response.content)
        if response.status_code == 422:
            response.status_code = 400  # the API has no other status for invalid requests
        kind = _KINDS.get(
            response.status_code, "api_error" if response.status_code >= 500 else "invalid_request_error"
        )
        text = f"{document['message']} {document['remedy']}".strip() + f" ({document['code']})"
        error = {"type": "error", "error": {"type": kind, "message": text}}
        response.content = json.dumps(
            {**error, "request_id": document["request_id"]}, ensure_ascii=False
        ).encode()
        return response

    def page(self, name: str) -> Any:
        query = read_query(AnthropicListQuery, self.request, ignore_unknown=True)
        values = {"limit": query["limit"], "cursor": query.get("page"), "source": query["source"]}
        return read_page(name, values, kinds=(int,))

    def find(self, uid: str) -> Skill:
        return sdk_skills.find_skill(uid, self.actor)

    def answer(self, request: Request, skill: Skill) -> HttpResponse:
        newest = sdk_skills.newest_version(skill, self.actor)
        assert newest  # ``find_skill`` refuses a skill without one
        return etag.document_response(request, skill_document(skill, newest))


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
        team = request.headers.get(_TEAM_HEADER, "")
        version = sdk_skills.create_skill(request, self.actor, team=team)
        return etag.document_response(request, skill_document(version.skill, version))


@extend_schema(exclude=True)
class AnthropicSkill(_AnthropicEndpoint):
    def get(self, request: Request, uid: str) -> HttpResponse:
        return self.answer(request, self.find(uid))

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


class _AnthropicVersionEndpoint(_AnthropicEndpoint):
    def version(self, uid: str, number: str) -> Version:
        return sdk_skills.find_version(self.find(uid), number, self.actor)


@extend_schema(exclude=True)
class AnthropicVersion(_AnthropicVersionEndpoint):
    def get(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        return etag.document_response(request, version_document(version, version.skill))

    def delete(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        sdk_skills.delete_version(version, self.actor)
        document = {"id": sdk_skills.version_id(version), "type": "skill_version_deleted"}
        return etag.document_response(request, document)


@extend_schema(exclude=True)
class AnthropicContent(_AnthropicVersionEndpoint):
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, uid: str, number: str) -> HttpResponseBase:
        return archive_response(request, self.version(uid, number), self.actor)


@extend_schema(exclude=True)
class AnthropicUnknown(_AnthropicEndpoint):
    """Responds with PATH_UNKNOWN to addresses of the protocol that this site does not support."""

    is_safe_post = True
    required_actions = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise PATH_UNKNOWN.refusal()
