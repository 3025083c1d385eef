"""Two versions of a skill held against each other."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, comparing
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.shapes import Query, read_query
from registry.permissions import Action


class ComparisonQuery(Query):
    lines = serializers.BooleanField(
        default=False, help_text="`1` tells the lines that changed, up to some thousands in all."
    )


class AbilityDoc(Doc):
    about = serializers.CharField(
        help_text="hosts filesystem environment secrets tools skills hooks shell timeout_ms memory_mb "
        "scripts abp_tools entry type protocol context"
    )
    gained = serializers.ListField(child=serializers.CharField())
    lost = serializers.ListField(child=serializers.CharField())
    more = serializers.BooleanField(help_text="Whether the later version may do, or might do, more by it.")


class SchemaChangeDoc(Doc):
    place = serializers.CharField(help_text="A JSON pointer to the value; empty for the whole.")
    effect = serializers.ChoiceField(choices=["breaking", "compatible", "unclear"])
    reason = serializers.CharField()


class ToolChangeDoc(Doc):
    tool = serializers.CharField()
    changes = SchemaChangeDoc(many=True)


class FieldChangeDoc(Doc):
    name = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    gained = serializers.ListField(child=serializers.CharField())
    lost = serializers.ListField(child=serializers.CharField())


class FileSideDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()


class LineDoc(Doc):
    kind = serializers.ChoiceField(choices=["changed", "removed", "added"])
    before_line = serializers.IntegerField(allow_null=True)
    after_line = serializers.IntegerField(allow_null=True)
    before = serializers.CharField()
    after = serializers.CharField()


class FileChangeDoc(Doc):
    kind = serializers.ChoiceField(choices=["added", "removed", "changed", "renamed"])
    path = serializers.CharField()
    before = FileSideDoc(allow_null=True)
    after = FileSideDoc(allow_null=True)
    lines = LineDoc(many=True, required=False)


class ComparisonDoc(Doc):
    skill = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    same_permissions = serializers.BooleanField(help_text="Nothing changed in what it may do.")
    breaking = serializers.BooleanField(help_text="Callers may have to change with it.")
    asks_more = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What a person would have to agree to anew; empty for nothing.",
    )
    abilities = AbilityDoc(many=True)
    input_schema = SchemaChangeDoc(many=True)
    output_schema = SchemaChangeDoc(many=True)
    tools = ToolChangeDoc(many=True)
    manifest = FieldChangeDoc(many=True)
    files = FileChangeDoc(many=True)


class CompareVersions(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="compare_versions",
        summary="Compare two versions of a skill",
        tags=["versions"],
        parameters=[ComparisonQuery],
        responses=ComparisonDoc,
        examples=[examples.answers(examples.COMPARISON)],
    )
    def get(self, request: Request, team: str, slug: str, before: str, after: str) -> HttpResponse:
        """Files, manifest, schemas and what the later version may do that the earlier one might not."""
        query = read_query(ComparisonQuery, request)
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        old, new = (catalog.find_version(skill, each, self.actor, even_held=True) for each in (before, after))
        return etags.document_response(
            request, comparing.document(old, new, with_texts=query["lines"], translate=gettext)
        )
