"""Endpoints by which ClawHub clients star, report, delete and restore skills.

A star is a pin on the caller's home page. Deletion yanks versions, so that it can be undone.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.schema import Shape
from registry.facades.clawhub.endpoint import ClawHubEndpoint
from registry.facades.clawhub.reading import ClawHubSkillDetail, ClawHubVersionDetail
from registry.facades.endpoint import read_known
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Report, ReportReason, ReportState, Skill, User, Version
from registry.packages.problems import Refusal
from registry.pins import pins
from registry.review.errors import REPORT_DECIDED, REPORT_OPEN
from registry.review.reports import report_version
from registry.versions.lifecycle import yank

_DELETED, _VERSION_DELETED = "Deleted with a ClawHub client.", "Version deleted with a ClawHub client."
_MAX_REASON_CHARS = 500


class DeletionRequest(Shape):
    ownerHandle = serializers.CharField(max_length=64, allow_blank=True, default="")
    reason = serializers.CharField(max_length=_MAX_REASON_CHARS, allow_blank=True, default="")


class ClawHubReportRequest(Shape):
    ownerHandle = serializers.CharField(max_length=64, allow_blank=True, default="")
    reason = serializers.CharField(max_length=1000)
    version = serializers.CharField(max_length=64, allow_blank=True, default="")


class _CurationEndpoint(ClawHubEndpoint):
    @property
    def user(self) -> User:
        if self.actor.user is None:
            raise SIGN_IN_REQUIRED.refusal()
        return self.actor.user

    def find_for_change(self, slug: str, body: dict[str, Any]) -> Skill:
        """The skill whose owner the body or the query names. Raises the errors of ``find``."""
        owner = body.get("ownerHandle") or self.query().get("ownerHandle", "")
        return self.find(slug, {"ownerHandle": owner})

    def find_version_for_change(self, slug: str, number: str, body: dict[str, Any]) -> Version:
        """The version, for its team also while it is held."""
        skill = self.find_for_change(slug, body)
        return skills.find_version(skill, number, self.actor, include_held=True)


@extend_schema(exclude=True)
class Star(_CurationEndpoint):
    required_actions = {"POST": (Action.SEE,), "DELETE": (Action.SEE,)}

    def post(self, request: Request, slug: str) -> HttpResponse:
        skill = self.find_for_change(slug, {})
        known = pins.is_pinned(self.actor, skill)
        pins.pin(self.user, skill)
        return etag.document_response(request, {"ok": True, "starred": True, "alreadyStarred": known})

    def delete(self, request: Request, slug: str) -> HttpResponse:
        skill = self.find_for_change(slug, {})
        known = pins.is_pinned(self.actor, skill)
        pins.unpin(self.user, skill)
        return etag.document_response(request, {"ok": True, "unstarred": True, "alreadyUnstarred": not known})


@extend_schema(exclude=True)
class SkillAndDelete(ClawHubSkillDetail, _CurationEndpoint):
    """Also deletes a skill: yanks its versions."""

    required_actions = {**ClawHubSkillDetail.required_actions, "DELETE": (Action.RELEASE,)}

    def delete(self, request: Request, slug: str) -> HttpResponse:
        body = read_known(DeletionRequest, request.data)
        yank.yank_all(self.find_for_change(slug, body), self.actor, reason=body["reason"] or _DELETED)
        return etag.document_response(request, {"ok": True})


@extend_schema(exclude=True)
class Undelete(_CurationEndpoint):
    required_actions = {"POST": (Action.SETTINGS,)}  # and RELEASE, as everywhere that undoes a yank

    def post(self, request: Request, slug: str) -> HttpResponse:
        body = read_known(DeletionRequest, request.data)
        yank.unyank_all(self.find_for_change(slug, body), self.actor)
        return etag.document_response(request, {"ok": True})


@extend_schema(exclude=True)
class VersionAndDelete(ClawHubVersionDetail, _CurationEndpoint):
    """Also deletes a version: yanks it."""

    required_actions = {**ClawHubVersionDetail.required_actions, "DELETE": (Action.RELEASE,)}

    def delete(self, request: Request, slug: str, number: str) -> HttpResponse:
        body = read_known(DeletionRequest, request.data)
        version = self.find_version_for_change(slug, number, body)
        yank.yank(version, self.actor, reason=body["reason"] or _VERSION_DELETED)
        return etag.document_response(request, {"ok": True})


@extend_schema(exclude=True)
class RestoreVersion(_CurationEndpoint):
    required_actions = {"POST": (Action.SETTINGS,)}  # and RELEASE, as everywhere that undoes a yank

    def post(self, request: Request, slug: str, number: str) -> HttpResponse:
        body = read_known(DeletionRequest, request.data)
        version = self.find_version_for_change(slug, number, body)
        yank.unyank(version, self.actor)
        return etag.document_response(request, {"ok": True})


@extend_schema(exclude=True)
class ReportSkill(_CurationEndpoint):
    """Reports a version, by default the latest one."""

    required_actions = {"POST": (Action.REPORT,)}

    def post(self, request: Request, slug: str) -> HttpResponse:
        body = read_known(ClawHubReportRequest, request.data)
        version = skills.find_version(self.find_for_change(slug, body), body["version"] or None, self.actor)
        try:
            row, known = (
                report_version(version, self.actor, reason=ReportReason.OTHER, text=body["reason"]),
                False,
            )
        except Refusal as error:
            row, known = self._earlier(version, error), True
        own = Report.objects.filter(version__skill=version.skill, by=self.user, state=ReportState.OPEN)
        document = {
            "ok": True,
            "reported": not known,
            "alreadyReported": known,
            "reportId": row.uid,
            "skillId": version.skill.uid,
            "reportCount": own.count(),  # of the caller: other reports are for reviewers only
        }
        return etag.document_response(request, document)

    def _earlier(self, version: Version, error: Refusal) -> Report:
        """The caller's earlier report of the version. Raises the error if it has another cause."""
        rows = Report.objects.filter(version=version, by=self.user).order_by("-pk")
        if error.code not in (REPORT_OPEN.name, REPORT_DECIDED.name) or not (row := rows.first()):
            raise error
        return row
