from __future__ import annotations

import json
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.errors import CURSOR_INVALID, FIELD_INVALID, PATH_UNKNOWN
from registry.api.schema import Query, Shape, read_query
from registry.facades import sdk_skills
from registry.facades.downloads import archive_response
from registry.facades.endpoint import FacadeEndpoint, read_known
from registry.facades.openai.documents import list_document, skill_document, version_document
from registry.identity.permissions import Action
from registry.models import Skill, Version
from registry.rates.limits import RateLimit

_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_TEAM_HEADER = "OpenAI-Project"  # names the team that publishes
Row = TypeVar("Row", bound=Model)


class OpenAIListQuery(Query):
    after = serializers.CharField(required=False, max_length=80)
    limit = serializers.IntegerField(default=20, min_value=0, max_value=100)
    order = serializers.ChoiceField(choices=["asc", "desc"], default="desc")


class DefaultVersionRequest(Shape):
    default_version = serializers.CharField(max_length=64)


class _OpenAIEndpoint(FacadeEndpoint):
    """Base class of endpoints whose errors have the form of OpenAI's API."""

    required_actions = {"GET": (Action.SEE,), "POST": (Action.PUBLISH,), "DELETE": (Action.RELEASE,)}
    rate_limits = {"POST": RateLimit.PUBLISH}
    parser_classes = [bodies.RawBody]

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        document = json.loads(response.content)
        if response.status_code == 422:
            response.status_code = 400  # the API has no other status for invalid requests
        kind = "server_error" if response.status_code >= 500 else "invalid_request_error"
        text = f"{document['message']} {document['remedy']}".strip()
        problem = document["problems"][0]
        error = {
            "message": text,
            "type": _KINDS.get(response.status_code, kind),
            "param": problem.get("path") or None,
            "code": document["code"],
        }
        response.content = json.dumps({"error": error}, ensure_ascii=False).encode()
        return response

    def find(self, uid: str) -> Skill:
        return sdk_skills.find_skill(uid, self.actor)

    def answer(self, request: Request, skill: Skill) -> HttpResponse:
        newest = sdk_skills.newest_version(skill, self.actor)
        assert newest  # ``find`` refuses a skill without one
        return etag.document_response(request, skill_document(skill, newest))

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
        team = request.headers.get(_TEAM_HEADER, "")
        version = sdk_skills.create_skill(request, self.actor, team=team)
        return etag.document_response(request, skill_document(version.skill, version))


@extend_schema(exclude=True)
class OpenAISkill(_OpenAIEndpoint):
    """A skill. Its default version is always the latest one."""

    parser_classes = [bodies.StrictJson, bodies.RawBody]

    def get(self, request: Request, uid: str) -> HttpResponse:
        return self.answer(request, self.find(uid))

    def post(self, request: Request, uid: str) -> HttpResponse:
        skill = self.find(uid)
        number = read_known(DefaultVersionRequest, request.data)["default_version"]
        newest = sdk_skills.newest_version(skill, self.actor)
        if newest is None or sdk_skills.find_version(skill, number, self.actor).pk != newest.pk:
            reason = "The default version is always the latest one. Yank newer versions instead."
            raise FIELD_INVALID.refusal(field="default_version", reason=reason).at("default_version")
        return self.answer(request, skill)

    def delete(self, request: Request, uid: str) -> HttpResponse:
        sdk_skills.delete_skill(self.find(uid), self.actor)
        return etag.document_response(request, {"id": uid, "object": "skill.deleted", "deleted": True})


@extend_schema(exclude=True)
class OpenAIContent(_OpenAIEndpoint):
    """The archive of the default version."""

    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, uid: str) -> HttpResponseBase:
        skill = self.find(uid)
        return archive_response(request, sdk_skills.find_version(skill, "latest", self.actor), self.actor)


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


class _OpenAIVersionEndpoint(_OpenAIEndpoint):
    def version(self, uid: str, number: str) -> Version:
        return sdk_skills.find_version(self.find(uid), number, self.actor)


@extend_schema(exclude=True)
class OpenAIVersion(_OpenAIVersionEndpoint):
    def get(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        return etag.document_response(request, version_document(version, version.skill))

    def delete(self, request: Request, uid: str, number: str) -> HttpResponse:
        version = self.version(uid, number)
        sdk_skills.delete_version(version, self.actor)
        document = {"id": sdk_skills.version_id(version), "object": "skill.version.deleted", "deleted": True}
        return etag.document_response(request, {**document, "version": version.number})


@extend_schema(exclude=True)
class OpenAIVersionContent(_OpenAIVersionEndpoint):
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, uid: str, number: str) -> HttpResponseBase:
        return archive_response(request, self.version(uid, number), self.actor)


@extend_schema(exclude=True)
class OpenAIUnknown(_OpenAIEndpoint):
    """Responds with PATH_UNKNOWN to addresses of the protocol that this site does not support."""

    is_safe_post = True
    required_actions = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise PATH_UNKNOWN.refusal()
