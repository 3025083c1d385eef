"""Endpoints with which agents list and load the skills recommended to them."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.results import MAX_PATHS
from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, Query, read_query
from registry.identity.permissions import Action
from registry.listing import formats, load
from registry.listing.budget import Stage, Truncation
from registry.listing.list_skills import CONTEXT_TOKENS, OmissionReason, list_skills
from registry.listing.selection import MAX_PLACES, PlaceReason

operation = Operations("agents")


class _PathsQuery(Query):
    paths = serializers.ListField(
        child=serializers.CharField(max_length=20_000),
        required=False,
        default=list,
        max_length=200,
        help_text=(
            "Paths of the files that the agent works on, relative to the project. Separate them with "
            "commas or repeat the parameter."
        ),
    )

    def validate_paths(self, texts: list[str]) -> list[str]:
        paths = [path.strip() for text in texts for path in text.split(",") if path.strip()]
        if len(paths) > MAX_PATHS:
            raise serializers.ValidationError(f"Name at most {MAX_PATHS} files.")
        return paths


class ListingQuery(_PathsQuery):
    context_tokens = serializers.IntegerField(
        default=CONTEXT_TOKENS,
        min_value=0,
        max_value=100_000_000,
        help_text="The size of the agent's context window, in tokens.",
    )
    format = serializers.ChoiceField(
        default="json",
        choices=["json", *formats.FORMATS],
        help_text=(
            "Format of the response; `xml` is the element `<available_skills>` of the open Agent "
            "Skills format."
        ),
    )
    limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_PLACES,
        help_text="The maximum number of skills; default: 40 for `section`, otherwise 1,000.",
    )


class ListedSkillDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    name = serializers.CharField(help_text="The name to load the skill by.")
    display_name = serializers.CharField(help_text="The name to show to people, in any language.")
    text = serializers.CharField()
    truncation = serializers.ChoiceField(choices=list(Truncation))
    reason = serializers.ChoiceField(
        choices=list(PlaceReason), help_text="The reason why the skill is listed."
    )
    score = serializers.FloatField()
    location = serializers.URLField()


class OmittedSkillDoc(Doc):
    skill = serializers.CharField()
    reason = serializers.ChoiceField(choices=list(OmissionReason))


class ListingDoc(Doc):
    context_tokens = serializers.IntegerField()
    budget = serializers.IntegerField(
        help_text="The maximum width of the listing in columns; a Chinese character takes two columns."
    )
    used = serializers.IntegerField()
    stage = serializers.ChoiceField(choices=list(Stage))
    lines = serializers.CharField(help_text="The listing as text for a prompt.")
    skills = ListedSkillDoc(many=True)
    omitted = OmittedSkillDoc(many=True, help_text="Skills that are not listed, at most 100 per reason.")
    omitted_counts = serializers.DictField(child=serializers.IntegerField())


class AgentSkillDoc(Doc):
    id = serializers.CharField(help_text="The id to load the skill by.")
    name = serializers.CharField(help_text="The display name, in any language.")
    description = serializers.CharField()
    allowedTools = serializers.ListField(child=serializers.CharField())


class AgentSkillsDoc(Doc):
    skills = AgentSkillDoc(many=True)
    remaining = serializers.IntegerField(
        help_text="The number of further skills that the response does not contain."
    )


class LoadedFileDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    url = serializers.URLField()


class LoadedSkillDoc(AgentSkillDoc):
    version = serializers.CharField()
    digest = serializers.CharField()
    content = serializers.CharField(help_text="The text of SKILL.md, including front matter.")
    location = serializers.URLField(help_text="The URL of SKILL.md.")
    base = serializers.URLField(help_text="The base URL of all files.")
    archive = serializers.URLField()
    files = LoadedFileDoc(many=True)
    notices = ProblemDoc(many=True, help_text="Notices that the version is yanked, deprecated or reported.")


class Listings(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "get_listing",
        "Get the agent listing",
        query=ListingQuery,
        answer={
            (200, "application/json"): ListingDoc,
            (200, "text/plain"): OpenApiTypes.STR,
            (200, "application/xml"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Returns the skills of your teams, of the teams they subscribe to, and bundled and canonical
        skills. The listing takes at most 1 % of the context window, unless the bundled skills alone need
        more. The format `json` includes the reason for each skill; the other formats are for prompts.
        """
        query = read_query(ListingQuery, request)
        form = query["format"]
        limit = query.get("limit", formats.SECTION_LIMIT if form == "section" else None)
        found = list_skills(
            self.actor, context_tokens=query["context_tokens"], paths=query["paths"], limit=limit
        )
        if form == "json":
            return etag.document_response(request, formats.listing_document(found))
        kind = "application/xml" if form == "xml" else "text/plain"
        return etag.text_response(request, formats.render(found, form), kind=kind)


class AgentQuery(_PathsQuery):
    limit = serializers.IntegerField(default=load.DEFAULT_LIMIT, min_value=1, max_value=MAX_PLACES)


class AgentSkills(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "skills_list", "List the skills that an agent may load", query=AgentQuery, answer=AgentSkillsDoc
    )
    def get(self, request: Request) -> HttpResponse:
        """Returns up to `limit` skills that your agents may load, in the order of the agent listing but with
        longer descriptions. The agent tool `skills_list` uses this endpoint.
        """
        query = read_query(AgentQuery, request)
        found = load.skills_list(self.actor, paths=query["paths"], limit=query["limit"])
        return etag.document_response(request, load.loadable_document(found))


class LoadQuery(Query):
    name = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=300,
        help_text="An id, `team/slug`, a name or part of a name.",
    )


class AgentSkill(Endpoint):
    required_actions = {"GET": (Action.INSTALL,)}

    @operation("skills_load", "Load a skill", query=LoadQuery, answer=LoadedSkillDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns SKILL.md of the skill with this id or name; otherwise, of a skill whose name contains
        `name`, ignoring case. Of several, it prefers your teams' skills, then the most used. The request
        counts as a use of the skill. The agent tool `skills_load` uses this endpoint.
        """
        name = read_query(LoadQuery, request)["name"]
        loaded = load.skills_load(name, self.actor, is_use=request.method == "GET")
        return etag.document_response(request, load.loaded_document(loaded))
