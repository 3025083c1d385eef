"""What agents are told of their skills: the listing for a prompt, ``skills_list`` and ``skills_load``."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import loading
from registry.api import etags, examples
from registry.api.documents import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.api.matching import MOST_PATHS
from registry.api.shapes import Query, read_query
from registry.listing import CONTEXT_TOKENS, Why, formats, list_skills
from registry.listing.choosing import MOST, Place
from registry.listing.fitting import Cut, Stage
from registry.permissions import Action

_HOST = "https://skills.example"
_FILES = f"{_HOST}/api/v1/skills/docs/summarise/versions/1.2.0/files/"
_SAID = "Summarises a document in a few sentences."
_LISTING: dict[str, Any] = {
    "context_tokens": 200_000,
    "budget": 8000,
    "width": 54,
    "stage": "full",
    "lines": f"- summarise: {_SAID}",
    "skills": [
        {
            "skill": "docs/summarise",
            "version": "1.2.0",
            "name": "summarise",
            "text": _SAID,
            "cut": "none",
            "place": "used",
            "score": 3.2,
            "location": f"{_FILES}SKILL.md",
        }
    ],
    "left_out": [{"skill": "docs/styles", "why": "paths"}],
    "left_out_counts": {"paths": 1, "limit": 0, "budget": 0},
}
_LOADABLE = {
    "id": "docs/summarise",
    "name": "summarise",
    "description": _SAID,
    "allowedTools": ["Read"],
}
_LOADED = {
    **_LOADABLE,
    "version": "1.2.0",
    "digest": "sha256:" + 64 * "a",
    "content": f"---\nname: summarise\ndescription: {_SAID}\nallowed-tools: Read\n---\n# Summarise\n",
    "location": f"{_FILES}SKILL.md",
    "base": _FILES,
    "archive": f"{_HOST}/api/v1/skills/docs/summarise/versions/1.2.0/archive",
    "files": [{"path": "SKILL.md", "size": 98, "url": f"{_FILES}SKILL.md"}],
    "notices": [],
}


class _PathsQuery(Query):
    paths = serializers.ListField(
        child=serializers.CharField(max_length=20_000),
        required=False,
        default=list,
        max_length=200,
        help_text="Files that are worked on, by commas or repeated; within the project, such as `src/a.py`.",
    )

    def validate_paths(self, texts: list[str]) -> list[str]:
        paths = [path.strip() for text in texts for path in text.split(",") if path.strip()]
        if len(paths) > MOST_PATHS:
            raise serializers.ValidationError(f"Name at most {MOST_PATHS} files.")
        return paths


class ListingQuery(_PathsQuery):
    context_tokens = serializers.IntegerField(
        default=CONTEXT_TOKENS, min_value=0, max_value=100_000_000, help_text="The agent's context window."
    )
    format = serializers.ChoiceField(
        default="json", choices=["json", *formats.FORMATS], help_text="`xml` is the open format's."
    )
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text="At most so many; 40 in a `section`."
    )


class ListedDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    name = serializers.CharField(help_text="What loads it.")
    text = serializers.CharField()
    cut = serializers.ChoiceField(choices=list(Cut))
    place = serializers.ChoiceField(choices=list(Place), help_text="Why it is listed.")
    score = serializers.FloatField()
    location = serializers.URLField()


class LeftOutDoc(Doc):
    skill = serializers.CharField()
    why = serializers.ChoiceField(choices=list(Why))


class ListingDoc(Doc):
    context_tokens = serializers.IntegerField()
    budget = serializers.IntegerField(help_text="Columns; a Chinese character takes two.")
    width = serializers.IntegerField()
    stage = serializers.ChoiceField(choices=list(Stage))
    lines = serializers.CharField(help_text="The listing as a prompt holds it.")
    skills = ListedDoc(many=True)
    left_out = LeftOutDoc(many=True, help_text="The first hundred of a kind.")
    left_out_counts = serializers.DictField(child=serializers.IntegerField())


class LoadableDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    allowedTools = serializers.ListField(child=serializers.CharField())


class LoadablesDoc(Doc):
    skills = LoadableDoc(many=True)
    more = serializers.IntegerField(help_text="How many there are besides.")


class LoadedFileDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    url = serializers.URLField()


class LoadedDoc(LoadableDoc):
    version = serializers.CharField()
    digest = serializers.CharField()
    content = serializers.CharField(help_text="The whole SKILL.md.")
    location = serializers.URLField(help_text="Where SKILL.md is.")
    base = serializers.URLField(help_text="Under which all files are.")
    archive = serializers.URLField()
    files = LoadedFileDoc(many=True)
    notices = ProblemDoc(many=True, help_text="That it is yanked, deprecated or reported.")


class Listings(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="get_listing",
        summary="What an agent is told of its skills",
        tags=["agents"],
        parameters=[ListingQuery],
        responses={
            (200, "application/json"): ListingDoc,
            (200, "text/plain"): OpenApiTypes.STR,
            (200, "application/xml"): OpenApiTypes.STR,
        },
        examples=[examples.answers(_LISTING)],
    )
    def get(self, request: Request) -> HttpResponse:
        """Skills of your teams, of teams that they subscribe to, bundled and canonical ones, within a
        hundredth of the context. `json` says who was cut and why, the others are for a prompt."""
        query = read_query(ListingQuery, request)
        form = query["format"]
        limit = query.get("limit", formats.SECTION_LIMIT if form == "section" else None)
        found = list_skills(
            self.actor, context_tokens=query["context_tokens"], paths=query["paths"], limit=limit
        )
        if form == "json":
            return etags.document_response(request, formats.document(found))
        kind = "application/xml" if form == "xml" else "text/plain"
        return etags.text_response(request, formats.text(found, form), kind=kind)


class AgentQuery(_PathsQuery):
    limit = serializers.IntegerField(default=loading.LISTED, min_value=1, max_value=MOST)


class AgentSkills(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="skills_list",
        summary="List the skills that an agent may load",
        tags=["agents"],
        parameters=[AgentQuery],
        responses=LoadablesDoc,
        examples=[examples.answers({"skills": [_LOADABLE], "more": 0})],
    )
    def get(self, request: Request) -> HttpResponse:
        """The tool `skills_list`: the same skills as the listing, with more of their descriptions."""
        query = read_query(AgentQuery, request)
        found = loading.skills_list(self.actor, paths=query["paths"], limit=query["limit"])
        return etags.document_response(request, loading.list_document(found))


class LoadQuery(Query):
    name = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=300,
        help_text="An id, `team/slug` of any skill that you may see, a name, or a part of one.",
    )


class AgentSkill(Endpoint):
    needs = {"GET": (Action.INSTALL,)}

    @extend_schema(
        operation_id="skills_load",
        summary="Load a skill",
        tags=["agents"],
        parameters=[LoadQuery],
        responses=LoadedDoc,
        examples=[examples.answers(_LOADED)],
    )
    def get(self, request: Request) -> HttpResponse:
        """The tool `skills_load`: the skill of this id, else of this name, else the first whose name holds
        it in any case, with its whole SKILL.md. Counts as a load."""
        name = read_query(LoadQuery, request)["name"]
        loaded = loading.skills_load(name, self.actor, is_use=request.method == "GET")
        return etags.document_response(request, loading.document(loaded))
