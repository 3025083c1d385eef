"""Changing texts of a version into the next one, without an archive."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, editing
from registry.api import examples
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.packages import PublishedDoc, published
from registry.api.shapes import Shape, StrictText, read_body
from registry.models import Version
from registry.packages.editing import STEPS
from registry.packages.editing import Edits as Changes
from registry.permissions import Action, require

_EXAMPLE = {
    "files": {"references/style.md": "# Style\n\nShort sentences.\n", "references/old.md": None},
    "step": "minor",
    "changelog": "A shorter style guide.",
    "seen": examples.PUBLISHED["digest"],
}


class EditRequest(Shape):
    files = serializers.DictField(
        child=StrictText(allow_null=True, allow_blank=True),
        allow_empty=False,
        help_text="The new text of each path; null leaves the file out.",
    )
    step = serializers.ChoiceField(
        choices=STEPS, default="patch", help_text="What raises the number, unless SKILL.md says a new one."
    )
    changelog = StrictText(required=False, allow_blank=True, max_length=20_000)
    seen = StrictText(
        required=False,
        max_length=71,
        help_text="The latest version's digest, as you know it; 409 where it moved.",
    )


class Edits(Endpoint):
    needs = {"POST": (Action.PUBLISH,)}

    @extend_schema(
        operation_id="edit_version",
        summary="Edit a version into the next",
        tags=["packages"],
        request=EditRequest,
        responses={200: PublishedDoc, 201: PublishedDoc},
        examples=[examples.asks(_EXAMPLE), examples.answers(examples.PUBLISHED, "200", "201")],
    )
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Files that are not named stay as they are; every problem comes at once and nothing is kept then."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        version = catalog.find_version(skill, number, self.actor, even_held=True)  # to be mended
        require(self.actor, Action.PUBLISH, skill=version.skill)
        asked = read_body(EditRequest, request.data)
        edition = editing.edit(version, _changes(version, asked["files"]), asked["step"])
        seen = asked.get("seen", version.skill.latest.digest if version.skill.latest else "")

        def act() -> HttpResponse:
            done = editing.publish_edit(edition, self.actor, changelog=asked.get("changelog", ""), seen=seen)
            return published(request, done)

        return once(request, asked, act)


def _changes(version: Version, files: dict[str, Any]) -> Changes:
    there = set(version.files.values_list("path", flat=True))
    texts = [(path, text) for path, text in files.items() if text is not None]
    return Changes(
        tuple((path, text) for path, text in texts if path in there),
        tuple((path, text) for path, text in texts if path not in there),
        frozenset(path for path, text in files.items() if text is None),
    )
