from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations
from registry.core.limits import package_limits
from registry.identity.permissions import Action
from registry.models import Version
from registry.packages.package import PROFILES, Profile
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import stored_problems_by_profile
from registry.storage import blobs
from registry.versions.publishing.version_rows import load_problems

operation = Operations("versions")


class ProfileReportDoc(Doc):
    profile = serializers.ChoiceField(choices=PROFILES)
    enforced = serializers.BooleanField(help_text="Whether this is the version's own profile.")
    ok = serializers.BooleanField(help_text="Whether the version could be published under this profile.")
    problems = ProblemDoc(many=True)


class ProfileReportsDoc(Doc):
    profiles = ProfileReportDoc(many=True)


class VersionProfiles(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_version_profiles", "Get a version's profile compliance", answer=ProfileReportsDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Checks the version's files against every other profile. For the version's own profile, returns the
        problems found at publication. If the package exceeds the site's current limits, returns only its
        own profile.
        """
        version = self.version(team, slug, number)
        rows = [
            _row(profile, version, problems) for profile, problems in _problems_by_profile(version).items()
        ]
        return etag.document_response(request, {"profiles": rows})


def _problems_by_profile(version: Version) -> dict[Profile, tuple[Problem, ...]]:
    own: Profile = version.profile  # type: ignore[assignment]
    data = blobs.read(version.digest)
    try:
        reports = stored_problems_by_profile(data, version.skill.slug, limits=package_limits())
    except Refusal:
        reports = {}
    return reports | {own: load_problems(version)}


def _row(profile: Profile, version: Version, problems: tuple[Problem, ...]) -> dict[str, object]:
    return {
        "profile": profile,
        "enforced": profile == version.profile,
        "ok": not any(problem.severity == "error" for problem in problems),
        "problems": [problem.document(gettext) for problem in problems],
    }
