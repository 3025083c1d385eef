"""Endpoints that yank, deprecate and purge versions and skills. DELETE undoes a yank or a deprecation."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import (
    Doc,
    SkillDetailDoc,
    VersionSummaryDoc,
    skill_detail,
    version_summary,
)
from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Version
from registry.versions.lifecycle import purge
from registry.versions.lifecycle import yank as publishing_yank

operation = Operations("versions")


class ReasonRequest(Shape):
    reason = StrictText(
        max_length=500, help_text="The reason, which is shown to users of the version or skill."
    )


class DeprecationRequest(ReasonRequest):
    successor = StrictText(
        max_length=130,
        required=False,
        allow_blank=True,
        help_text="The replacement: a version number for a version, `team/slug` for a skill.",
    )


class PurgeDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField(
        allow_null=True, help_text="The purged version; null if the whole skill was purged."
    )
    reason = serializers.CharField()


class _VersionEndpoint(SkillEndpoint):
    """Base class of endpoints that change a version. They look up the version before they read the body, so
    that a 404 does not depend on the body.
    """

    required_actions = {"POST": (Action.RELEASE,), "DELETE": (Action.SETTINGS,)}

    def respond(self, request: Request, version: Version) -> HttpResponse:
        return etag.document_response(request, version_summary(version))


class Yank(_VersionEndpoint):
    @operation("yank_version", "Yank a version", body=ReasonRequest, answer=VersionSummaryDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Yanks the version: it is then available only by its exact number, with a notice. Requires the
        maintainer role or administrator rights.
        """
        version = self.version(team, slug, number)
        body = read_body(ReasonRequest, request.data)
        return self.respond(request, publishing_yank.yank(version, self.actor, reason=body["reason"]))

    @operation("unyank_version", "Undo a yank", answer=VersionSummaryDoc)
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Undoes the yank: the version loses its notice, and can become `latest` again. Requires the
        maintainer role or administrator rights.
        """
        return self.respond(request, publishing_yank.unyank(self.version(team, slug, number), self.actor))


class VersionDeprecation(_VersionEndpoint):
    @operation("deprecate_version", "Deprecate a version", body=DeprecationRequest, answer=VersionSummaryDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Deprecates the version; it stays usable and shows a notice. `successor` must be another usable
        version of the skill. Requires the maintainer role or administrator rights.
        """
        version = self.version(team, slug, number)
        body = read_body(DeprecationRequest, request.data)
        return self.respond(request, publishing_yank.deprecate_version(version, self.actor, **body))

    @operation("undeprecate_version", "Undo a version's deprecation", answer=VersionSummaryDoc)
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Removes the deprecation notice. Requires the maintainer role or administrator rights."""
        return self.respond(
            request, publishing_yank.undeprecate_version(self.version(team, slug, number), self.actor)
        )


class SkillDeprecation(SkillEndpoint):
    required_actions = {"POST": (Action.RELEASE,), "DELETE": (Action.SETTINGS,)}

    @operation(
        "deprecate_skill", "Deprecate a skill", tag="skills", body=DeprecationRequest, answer=SkillDetailDoc
    )
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Deprecates the skill. `successor` must be a skill that you can see; users who can't see it get
        `null` in its place. Requires the maintainer role or administrator rights.
        """
        skill = self.skill(team, slug)
        body = read_body(DeprecationRequest, request.data)
        label = body.get("successor")
        successor = skills.find_skill(label, self.actor) if label else None
        publishing_yank.deprecate_skill(skill, self.actor, reason=body["reason"], successor=successor)
        return _skill_response(request, f"{team}/{slug}", self.actor)

    @operation("undeprecate_skill", "Undo a skill's deprecation", tag="skills", answer=SkillDetailDoc)
    def delete(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Removes the deprecation notice. Requires the maintainer role or administrator rights."""
        publishing_yank.undeprecate_skill(self.skill(team, slug), self.actor)
        return _skill_response(request, f"{team}/{slug}", self.actor)


class VersionPurge(_VersionEndpoint):
    required_actions = {"POST": (Action.SEE,)}  # tokens are refused later: the operation requires a session

    @operation("purge_version", "Purge a version permanently", body=ReasonRequest, answer=PurgeDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Permanently deletes the version's files, its search terms and the content of its runs. Later
        requests for the version return 410. Its number can't be reused, and its team can't publish the
        content again. Requires a session, and the owner role or administrator rights.
        """
        version = self.version(team, slug, number)
        reason = read_body(ReasonRequest, request.data)["reason"]
        tombstone = purge.purge_version(version, self.actor, reason=reason)
        document = {"skill": str(version.skill), "version": tombstone.number, "reason": tombstone.reason}
        return etag.document_response(request, document)


class SkillPurge(SkillEndpoint):
    required_actions = {"POST": (Action.SEE,)}

    @operation("purge_skill", "Purge a skill permanently", tag="skills", body=ReasonRequest, answer=PurgeDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Purges all versions of the skill, including those of skills merged into it. The name stays
        reserved. Requires a session, and the owner role or administrator rights.
        """
        skill = self.skill(team, slug)
        reason = read_body(ReasonRequest, request.data)["reason"]
        purge.purge_skill(skill, self.actor, reason=reason)
        document = {"skill": str(skill), "version": None, "reason": reason}
        return etag.document_response(request, document)


def _skill_response(request: Request, label: str, actor: Actor) -> HttpResponse:
    return etag.document_response(request, skill_detail(skills.find_skill(label, actor), actor))
