"""Endpoint that edits text files of a version and publishes the result as the next version."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import run_once
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.identity.permissions import Action, require
from registry.models import Version
from registry.packages.authoring.edit import VERSION_STEPS, PackageEdits
from registry.rates.limits import RateLimit
from registry.versions.api.publish import PublicationDoc, publication_response
from registry.versions.content import edit as editing

operation = Operations("packages")


class EditRequest(Shape):
    files = serializers.DictField(
        child=StrictText(allow_null=True, allow_blank=True),
        allow_empty=False,
        help_text="The new text of files by path. Null deletes a file.",
    )
    bump = serializers.ChoiceField(
        choices=VERSION_STEPS,
        default="patch",
        help_text="The part of the version number to raise, unless SKILL.md states a new number.",
    )
    changelog = StrictText(required=False, allow_blank=True, max_length=20_000)
    base_digest = StrictText(
        required=False,
        max_length=71,
        help_text="The digest of the latest version that you know. The request fails with 409 if "
        "there is a newer one.",
    )


class VersionEdits(SkillEndpoint):
    required_actions = {"POST": (Action.PUBLISH,)}
    rate_limits = {"POST": RateLimit.PUBLISH}

    @operation(
        "edit_version",
        "Publish an edited version",
        body=EditRequest,
        answer={200: PublicationDoc, 201: PublicationDoc},
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Publishes the next version with the given files added, changed or deleted; other files stay the
        same. If the request fails, the site stores nothing.
        """
        # Held versions are included, because an edit can fix the findings that hold them.
        version = self.version(team, slug, number)
        require(self.actor, Action.PUBLISH, skill=version.skill)
        body = read_body(EditRequest, request.data)
        edited = editing.apply_edits(version, _changes(version, body["files"]), body["bump"])
        base_digest = body.get("base_digest", version.skill.latest.digest if version.skill.latest else "")

        def act() -> HttpResponse:
            publication = editing.publish_edit(
                edited, self.actor, changelog=body.get("changelog", ""), base_digest=base_digest
            )
            return publication_response(request, publication)

        return run_once(request, body, act)


def _changes(version: Version, files: dict[str, Any]) -> PackageEdits:
    existing = set(version.files.values_list("path", flat=True))
    texts = [(path, text) for path, text in files.items() if text is not None]
    return PackageEdits(
        tuple((path, text) for path, text in texts if path in existing),
        tuple((path, text) for path, text in texts if path not in existing),
        frozenset(path for path, text in files.items() if text is None),
    )
