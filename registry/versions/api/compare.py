from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.comparison import ComparisonDoc
from registry.api.endpoint import SkillEndpoint
from registry.api.schema import Operations, Query, read_query
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.versions.content import compare

operation = Operations("versions")


class ComparisonQuery(Query):
    lines = serializers.BooleanField(
        default=False,
        help_text=(
            "`1` includes the changed lines of text files, at most 3,000. Very large files have no `lines`."
        ),
    )


class CompareVersions(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "compare_versions", "Compare two versions of a skill", query=ComparisonQuery, answer=ComparisonDoc
    )
    def get(self, request: Request, team: str, slug: str, before: str, after: str) -> HttpResponse:
        """Compares files, manifest, schemas and permissions of two versions."""
        query = read_query(ComparisonQuery, request)
        skill = self.skill(team, slug)
        old, new = (
            skills.find_version(skill, each, self.actor, include_held=True) for each in (before, after)
        )
        return etag.document_response(
            request, compare.comparison_document(old, new, with_texts=query["lines"], translate=gettext)
        )
