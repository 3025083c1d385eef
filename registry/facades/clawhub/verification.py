"""The endpoint by which ClawHub clients verify a version."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import etag
from registry.core.addresses import absolute_url
from registry.facades.clawhub import documents
from registry.facades.clawhub.endpoint import ClawHubEndpoint
from registry.facades.clawhub.lookup import owner_handle
from registry.facades.clawhub.reading import ClawHubVersionQuery, requested_version
from registry.models import Skill, Version
from registry.versions.publishing.scanning import list_findings


@extend_schema(exclude=True)
class Verify(ClawHubEndpoint):
    """Endpoint that returns the digest, origin and open findings of a version. The decision is ``fail`` if
    the version is reported or yanked.
    """

    keeps_answers = True

    def get(self, request: Request, slug: str) -> HttpResponse:
        query = self.query(ClawHubVersionQuery)
        skill = self.find(slug, query)
        version = requested_version(self, skill, query)
        source = "version" if query.get("version") else "tag" if query.get("tag") else "latest"
        document = {**_document(skill, version), "resolvedFrom": source}
        document["tag"] = {"tag": query.get("tag"), "latest": "latest"}.get(source)
        return etag.document_response(request, document)


def _document(skill: Skill, version: Version) -> dict[str, Any]:
    facts = {"reported": version.is_excluded, "yanked": version.yanked_at is not None}
    reasons = [reason for reason, applies in facts.items() if applies]
    handle = owner_handle(skill)
    return {
        "schema": "clawhub.skill.verify.v1",
        "ok": not reasons,
        "decision": "fail" if reasons else "pass",
        "reasons": reasons,
        "slug": documents.slug_of(skill),
        "displayName": skill.name,
        "pageUrl": absolute_url(f"skills/{version.skill}/{version.number}/"),
        "publisherHandle": handle,
        "publisherDisplayName": handle,
        "publisherProfileUrl": absolute_url(f"teams/{version.skill.team.slug}/"),
        "version": version.number,
        "createdAt": documents.milliseconds(version.created_at),
        "card": None,
        "artifact": {"sha256": version.digest.removeprefix("sha256:"), "size": version.archive_size},
        "provenance": version.provenance or None,
        "security": {"findings": _findings(version)},
        "signature": None,
    }


def _findings(version: Version) -> list[dict[str, Any]]:
    rows = [each for each in list_findings(version) if each.suppression is None]
    return [{"rule": each.row.rule, "severity": each.row.severity, "path": each.row.path} for each in rows]
