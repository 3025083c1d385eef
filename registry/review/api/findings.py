"""Endpoints that list scan findings, suppress them, and release held versions. Changes require a session."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, api_url
from registry.api.endpoint import Endpoint, SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from registry.models import Version
from registry.packages.scan.findings import SEVERITIES
from registry.review import findings as reviewing
from registry.versions.publishing import scanning

operation = Operations("findings")
_MAX_HELD = 200


class SuppressionDoc(Doc):
    reason = serializers.CharField()
    suppressed_by = serializers.CharField(
        allow_null=True,
        help_text="The user who suppressed the finding; null if there is none or you are not signed in.",
    )
    suppressed_at = serializers.DateTimeField()


class FindingDoc(Doc):
    id = serializers.CharField(help_text="Opaque id, the same in later scans.")
    rule = serializers.CharField(help_text="The id of the rule. docs/reference/scanning.md lists the rules.")
    severity = serializers.ChoiceField(choices=list(SEVERITIES))
    high_confidence = serializers.BooleanField(
        help_text="Whether the finding holds the version until a maintainer releases it, unless it was "
        "suppressed before."
    )
    path = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    excerpt = serializers.CharField(
        help_text="The excerpt, at most 160 characters. Invisible characters are written as ‹U+200B›."
    )
    message = serializers.CharField()
    remedy = serializers.CharField()
    suppression = SuppressionDoc(allow_null=True)


class FindingsDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    held = serializers.BooleanField()
    held_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    release_reason = serializers.CharField()
    items = FindingDoc(many=True)


class HeldVersionDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    held_at = serializers.DateTimeField()
    rules = serializers.ListField(child=serializers.CharField())
    url = serializers.URLField(help_text="The URL of the version's findings.")


class HeldVersionsDoc(Doc):
    items = HeldVersionDoc(many=True)


class JustificationRequest(Shape):
    reason = StrictText(max_length=500, help_text="The reason, which is shown with the finding or version.")


class _VersionEndpoint(SkillEndpoint):
    def answer(self, request: Request, version: Version) -> HttpResponse:
        named = self.actor.is_signed_in
        return etag.document_response(request, findings_document(version, named=named))


class Findings(_VersionEndpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_findings", "List a version's findings", answer=FindingsDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Lists findings; those of the built-in rules are sorted by confidence, then by severity. Findings
        are evidence, not a verdict; only high-confidence findings hold the version.
        """
        return self.answer(request, self.version(team, slug, number))


class Suppressions(_VersionEndpoint):
    required_actions = {"POST": (Action.REVIEW,), "DELETE": (Action.REVIEW,)}

    @operation("suppress_finding", "Suppress a finding", body=JustificationRequest, answer=FindingsDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str, uid: str) -> HttpResponse:
        """Suppresses the finding, also in later versions with the same excerpt in the same file. Requires
        the maintainer role or administrator rights, and a session. For a high-confidence finding, the
        publisher can't do this, and the suppression ends when the file changes.
        """
        version = self.version(team, slug, number)
        body = read_body(JustificationRequest, request.data)
        finding = reviewing.find_finding(version, uid)
        reviewing.suppress(finding, self.actor, reason=body["reason"])
        return self.answer(request, version)

    @operation("unsuppress_finding", "Remove a suppression", answer=FindingsDoc)
    def delete(self, request: Request, team: str, slug: str, number: str, uid: str) -> HttpResponse:
        """Removes the suppression, so that the finding is reported again for every version. Requires the
        maintainer role or administrator rights, and a session.
        """
        version = self.version(team, slug, number)
        reviewing.unsuppress(reviewing.find_finding(version, uid), self.actor)
        return self.answer(request, version)


class Release(_VersionEndpoint):
    required_actions = {"POST": (Action.REVIEW,)}

    @operation("release_version", "Release a held version", body=JustificationRequest, answer=FindingsDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Releases the held version. Requires the maintainer role or administrator rights, and a session.
        You can't release a version that you published.
        """
        version = self.version(team, slug, number)
        body = read_body(JustificationRequest, request.data)
        return self.answer(request, reviewing.release(version, self.actor, reason=body["reason"]))


class Held(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    requires_sign_in = True

    @operation("list_held_versions", "List versions awaiting your review", answer=HeldVersionsDoc)
    def get(self, request: Request) -> HttpResponse:
        """Lists up to 200 held versions of the teams that you review for, longest waiting first. A token
        gets an empty list.
        """
        held = reviewing.list_held_versions(self.actor)[:_MAX_HELD]
        return etag.document_response(request, {"items": [held_document(version) for version in held]})


def findings_document(version: Version, *, named: bool) -> dict[str, Any]:
    """The findings of a version as JSON. With ``named``, includes usernames."""
    return {
        "skill": str(version.skill),
        "version": version.number,
        "held": version.is_held,
        "held_at": rfc3339(version.held_at),
        "released_at": rfc3339(version.released_at),
        "release_reason": version.release_reason,
        "items": [finding_document(one, named=named) for one in scanning.list_findings(version)],
    }


def finding_document(shown: scanning.ReviewedFinding, *, named: bool = True) -> dict[str, Any]:
    row, judged = shown.row, shown.suppression
    by = judged.by.username if judged and judged.by and named else None
    return {
        "id": row.uid,
        "rule": row.rule,
        "severity": row.severity,
        "high_confidence": row.certain,
        "path": row.path,
        "line": row.line,
        "excerpt": row.quote,
        "message": shown.why(gettext),
        "remedy": shown.remedy(gettext),
        "suppression": {"reason": judged.reason, "suppressed_by": by, "suppressed_at": rfc3339(judged.at)}
        if judged
        else None,
    }


def held_document(version: Version) -> dict[str, Any]:
    rules = version.findings.filter(certain=True).order_by("pk").values_list("rule", flat=True)
    return {
        "skill": str(version.skill),
        "version": version.number,
        "held_at": rfc3339(version.held_at),
        "rules": list(dict.fromkeys(rules)),
        "url": api_url("skills", str(version.skill), "versions", version.number, "findings"),
    }
