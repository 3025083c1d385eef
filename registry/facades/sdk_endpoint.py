"""The base classes of endpoints for the skills APIs of Anthropic and OpenAI."""

from __future__ import annotations

from typing import ClassVar

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from registry.api import bodies
from registry.facades import sdk_skills
from registry.facades.downloads import archive_response
from registry.facades.endpoint import JsonFacadeEndpoint
from registry.identity.permissions import Action
from registry.models import Skill, Version
from registry.rates.limits import RateLimit


class SdkEndpoint(JsonFacadeEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,), "POST": (Action.PUBLISH,), "DELETE": (Action.RELEASE,)}
    rate_limits = {"POST": RateLimit.PUBLISH}
    parser_classes = [bodies.RawBody]
    invalid_status = 400
    team_header: ClassVar[str] = ""  # names the team that publishes

    def find(self, uid: str) -> Skill:
        return sdk_skills.find_skill(uid, self.actor)

    def newest(self, skill: Skill) -> Version:
        newest = sdk_skills.newest_version(skill, self.actor)
        assert newest  # ``find`` refuses a skill without one
        return newest

    def version(self, uid: str, number: str) -> Version:
        return sdk_skills.find_version(self.find(uid), number, self.actor)

    def create(self, request: Request) -> Version:
        team = request.headers.get(self.team_header, "")
        return sdk_skills.create_skill(request, self.actor, team=team)


class SdkContent(SdkEndpoint):
    required_actions = {"GET": (Action.INSTALL,)}

    def get(self, request: Request, uid: str, number: str = "latest") -> HttpResponseBase:
        return archive_response(request, self.version(uid, number), self.actor)
