"""Yank, deprecate and purge, a version or a whole skill; taking back is DELETE of what was said."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, publishing
from registry.actors import Actor
from registry.api import etags, examples
from registry.api.documents import (
    Doc,
    SkillDetailDoc,
    VersionSummaryDoc,
    skill_detail,
    version_summary,
)
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictText, read_body
from registry.models import Version
from registry.permissions import Action

_YANKED = {**examples.VERSION_SUMMARY, "yanked_at": "2026-11-20T10:00:00.000000Z", "yank_reason": "Wrong."}
_DEPRECATED = {
    **examples.VERSION_SUMMARY,
    "deprecated_at": "2026-11-20T10:00:00.000000Z",
    "deprecation": "Slow.",
    "successor": "1.3.0",
}
_OLD_SKILL = {
    **examples.SKILL_DETAIL,
    "deprecated_at": "2026-11-20T10:00:00.000000Z",
    "deprecation": "Nobody keeps it.",
    "successor": "docs/abstract",
}


_PURGED = {"skill": "docs/summarise", "version": None, "reason": "It held a password."}


class Reasoned(Shape):
    reason = StrictText(max_length=500, help_text="Why; shown to everybody who meets it.")


class Deprecation(Reasoned):
    successor = StrictText(max_length=130, required=False, allow_blank=True, help_text="What to use instead.")


class PurgedDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField(allow_null=True, help_text="Null where the whole skill was purged.")
    reason = serializers.CharField()


class _OfVersion(Endpoint):
    """Finds first and reads the body then: a stranger's answer does not depend on it."""

    needs = {"POST": (Action.SETTINGS,), "DELETE": (Action.SETTINGS,)}

    def version(self, team: str, slug: str, number: str) -> Version:
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return catalog.find_version(skill, number, self.actor, even_held=True)

    def told(self, request: Request, version: Version) -> HttpResponse:
        return etags.document_response(request, version_summary(version))


class Yank(_OfVersion):
    @extend_schema(
        operation_id="yank_version",
        summary="Yank a version",
        tags=["versions"],
        request=Reasoned,
        responses=VersionSummaryDoc,
        examples=[examples.asks({"reason": "Wrong."}), examples.answers(_YANKED)],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """For maintainers. From now on only its exact number gets it, with the reason as a notice."""

        def act() -> HttpResponse:
            version = self.version(team, slug, number)
            asked = read_body(Reasoned, request.data)
            return self.told(request, publishing.yank(version, self.actor, reason=asked["reason"]))

        return once(request, request.data, act)

    @extend_schema(
        operation_id="unyank_version",
        summary="Take a yank back",
        tags=["versions"],
        responses={200: VersionSummaryDoc},
        examples=[examples.answers(examples.VERSION_SUMMARY)],
    )
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """The version may be the latest again."""
        return self.told(request, publishing.unyank(self.version(team, slug, number), self.actor))


class VersionDeprecation(_OfVersion):
    @extend_schema(
        operation_id="deprecate_version",
        summary="Deprecate a version",
        tags=["versions"],
        request=Deprecation,
        responses=VersionSummaryDoc,
        examples=[examples.asks({"reason": "Slow.", "successor": "1.3.0"}), examples.answers(_DEPRECATED)],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """For maintainers. It is still chosen; `successor` is another usable version of the skill."""

        def act() -> HttpResponse:
            version = self.version(team, slug, number)
            asked = read_body(Deprecation, request.data)
            return self.told(request, publishing.deprecate_version(version, self.actor, **asked))

        return once(request, request.data, act)

    @extend_schema(
        operation_id="undeprecate_version",
        summary="Take a version's deprecation back",
        tags=["versions"],
        responses={200: VersionSummaryDoc},
        examples=[examples.answers(examples.VERSION_SUMMARY)],
    )
    def delete(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Nothing is said against it any more."""
        return self.told(
            request, publishing.undeprecate_version(self.version(team, slug, number), self.actor)
        )


class SkillDeprecation(Endpoint):
    needs = {"POST": (Action.SETTINGS,), "DELETE": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="deprecate_skill",
        summary="Deprecate a skill",
        tags=["skills"],
        request=Deprecation,
        responses=SkillDetailDoc,
        examples=[
            examples.asks({"reason": "Nobody keeps it.", "successor": "docs/abstract"}),
            examples.answers(_OLD_SKILL),
        ],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers. `successor` is a skill that you may see; it is told to who may see it too."""

        def act() -> HttpResponse:
            skill = catalog.find_skill(f"{team}/{slug}", self.actor)
            asked = read_body(Deprecation, request.data)
            label = asked.get("successor")
            successor = catalog.find_skill(label, self.actor) if label else None
            publishing.deprecate_skill(skill, self.actor, reason=asked["reason"], successor=successor)
            return _told(request, f"{team}/{slug}", self.actor)

        return once(request, request.data, act)

    @extend_schema(
        operation_id="undeprecate_skill",
        summary="Take a skill's deprecation back",
        tags=["skills"],
        responses={200: SkillDetailDoc},
        examples=[examples.answers(examples.SKILL_DETAIL)],
    )
    def delete(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Nothing is said against it any more."""
        publishing.undeprecate_skill(catalog.find_skill(f"{team}/{slug}", self.actor), self.actor)
        return _told(request, f"{team}/{slug}", self.actor)


class VersionPurge(_OfVersion):
    needs = {"POST": (Action.SEE,)}  # no token reaches further: the verb asks for the person

    @extend_schema(
        operation_id="purge_version",
        summary="Purge a version for good",
        tags=["versions"],
        request=Reasoned,
        responses=PurgedDoc,
        examples=[
            examples.asks({"reason": "It held a password."}),
            examples.answers({**_PURGED, "version": "1.2.0"}),
        ],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """For owners, in a session. Takes the bytes, the search terms and what runs made with it; number and
        digest are answered with 410 and never published again."""

        def act() -> HttpResponse:
            version = self.version(team, slug, number)
            reason = read_body(Reasoned, request.data)["reason"]
            stone = publishing.purge_version(version, self.actor, reason=reason)
            document = {"skill": str(version.skill), "version": stone.number, "reason": stone.reason}
            return etags.document_response(request, document)

        return once(request, request.data, act)


class SkillPurge(Endpoint):
    needs = {"POST": (Action.SEE,)}

    @extend_schema(
        operation_id="purge_skill",
        summary="Purge a skill for good",
        tags=["skills"],
        request=Reasoned,
        responses=PurgedDoc,
        examples=[examples.asks({"reason": "It held a password."}), examples.answers(_PURGED)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For owners, in a session. All versions, and what was merged into it; the name stays taken."""

        def act() -> HttpResponse:
            skill = catalog.find_skill(f"{team}/{slug}", self.actor)
            reason = read_body(Reasoned, request.data)["reason"]
            publishing.purge_skill(skill, self.actor, reason=reason)
            document = {"skill": str(skill), "version": None, "reason": reason}
            return etags.document_response(request, document)

        return once(request, request.data, act)


def _told(request: Request, label: str, actor: Actor) -> HttpResponse:
    return etags.document_response(request, skill_detail(catalog.find_skill(label, actor), actor))
