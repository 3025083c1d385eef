"""The match endpoint: ranks the skills that fit a request."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest

from registry.api import etag, pagination
from registry.api.documents.results import MAX_PATHS, SearchHitDoc
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import run_once
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.identity.permissions import Action
from registry.matching.documents import match_document
from registry.matching.match import MatchQuery, match
from registry.rates.limits import RateLimit

operation = Operations("skills")


class MatchRequest(Shape):
    utterance = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200_000,
        help_text="The user's request; only the first 500 words are used, and each Chinese character "
        "counts as a word.",
    )
    intent = StrictText(required=False, allow_blank=True, default="", max_length=200)
    event = StrictText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200,
        help_text="The type of the event for which a skill is needed.",
    )
    paths = serializers.ListField(
        child=StrictText(max_length=1000),
        required=False,
        default=list,
        max_length=MAX_PATHS,
        help_text="Paths of the files that the agent works on, relative to the project. A skill that "
        "declares path patterns is returned only if one of these files matches.",
    )
    limit = serializers.IntegerField(default=20, min_value=1, max_value=pagination.MAX_PAGE_SIZE)


class AllowedActionsDoc(Doc):
    load = serializers.BooleanField()
    run = serializers.BooleanField(
        help_text="Whether the skill is runnable and you have permission to run it."
    )


class RunRequirementsDoc(Doc):
    approval = serializers.BooleanField()
    secret = serializers.BooleanField()
    files = serializers.BooleanField()
    network = serializers.BooleanField()


class MatchRowDoc(SearchHitDoc):
    name = serializers.CharField()
    description = serializers.CharField()
    can = AllowedActionsDoc()
    needs = RunRequirementsDoc()
    input_schema = serializers.URLField(
        allow_null=True,
        help_text="The URL of the version whose `manifest` contains the input schema; null if there is none.",
    )


class MatchDoc(Doc):
    query = serializers.CharField()
    none = serializers.BooleanField(help_text="True if no skill is likely enough to be the right one.")
    results = MatchRowDoc(many=True)


class Matching(Endpoint):
    required_actions = {"POST": (Action.SEE,)}
    rate_limits = {"POST": RateLimit.MATCH}
    is_safe_post = True

    @operation("match_skills", "Match skills to a request", body=MatchRequest, answer=MatchDoc)
    def post(self, request: HttpRequest) -> HttpResponse:
        """Returns the skills that fit a request. Matches by event, intent, phrase or name come first, then
        matches by words. `score` is the probability that the skill is the right one. `start` and `end` are
        positions in the text, counted in Unicode code points.
        """
        body = read_body(MatchRequest, request.data)

        def act() -> HttpResponse:
            wanted = MatchQuery(body["utterance"], body["intent"], body["event"], tuple(body["paths"]))
            found = match(wanted, self.actor, limit=body["limit"])
            return etag.document_response(request, match_document(found, self.actor))

        return run_once(request, body, act) if self.actor.is_signed_in else act()
