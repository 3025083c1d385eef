"""How a version fares under each profile."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, storage
from registry.api import etags, examples
from registry.api.documents import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.limits import package_limits
from registry.models import Version
from registry.packages.package import PROFILES, Profile
from registry.packages.problems import Problem, Refused
from registry.packages.reading import fares, read_upload
from registry.permissions import Action
from registry.publishing import problems_of


class FareDoc(Doc):
    profile = serializers.ChoiceField(choices=PROFILES)
    own = serializers.BooleanField(help_text="The version is held to this one.")
    ok = serializers.BooleanField(help_text="It would be published under this one.")
    problems = ProblemDoc(many=True)


class FaresDoc(Doc):
    profiles = FareDoc(many=True)


class VersionProfiles(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_version_profiles",
        summary="See how a version fares under each profile",
        tags=["versions"],
        responses=FaresDoc,
        examples=[examples.answers(examples.FARES)],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Its files, held to every profile; to its own alone where this site would take them no more."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        version = catalog.find_version(skill, number, self.actor, even_held=True)
        rows = [_row(profile, version, found) for profile, found in _fares(version).items()]
        return etags.document_response(request, {"profiles": rows})


def _fares(version: Version) -> dict[Profile, tuple[Problem, ...]]:
    own: Profile = version.profile  # type: ignore[assignment]
    try:
        data = storage.read(version.digest)
        found = fares(read_upload(data, filename=f"{version.skill.slug}.zip", limits=package_limits()))
    except Refused:
        found = {}
    return found | {own: problems_of(version)}


def _row(profile: Profile, version: Version, found: tuple[Problem, ...]) -> dict[str, object]:
    return {
        "profile": profile,
        "own": profile == version.profile,
        "ok": not any(problem.severity == "error" for problem in found),
        "problems": [problem.document(gettext) for problem in found],
    }
