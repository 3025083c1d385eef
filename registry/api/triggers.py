"""Trigger quality: how a version's tests ended, which skills are asked for alike, and a team's settings."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, teams, trials
from registry.actors import Actor
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Query, Shape, read_body, read_query
from registry.collisions import collisions, document
from registry.languages import LANGUAGES
from registry.models import MemoryReview, TriggerTestOrigin, Version
from registry.permissions import Action, require
from registry.retrials import try_again

_TESTS = {
    "skill": "docs/summarise",
    "version": "1.2.0",
    "tests": [
        {"utterance": "总结一下这份报告", "must_match": True, "passed": True, "origin": "package", "line": 2}
    ],
}
_TESTED = ("utterance", "must_match", "passed", "origin", "line")
_COLLISIONS = {
    "complete": True,
    "collisions": [
        {
            "kind": "said",
            "text": "weekly report",
            "by": [
                {"skill": "docs/report", "kind": "phrase", "text": "weekly report"},
                {"skill": "sales/weekly", "kind": "name", "text": "Weekly report"},
            ],
        }
    ],
}
_SETTINGS = {"team": "docs", "languages": ["en", "zh"], "failing_triggers": "warn", "memory_review": "team"}


class TriggerTestDoc(Doc):
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    passed = serializers.BooleanField()
    origin = serializers.ChoiceField(choices=TriggerTestOrigin.values)
    line = serializers.IntegerField(allow_null=True, help_text="Of tests/triggers.yaml.")


class TriggerTestsDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    tests = TriggerTestDoc(many=True)


def _tests_document(version: Version, actor: Actor) -> dict[str, Any]:
    tests = [{name: getattr(row, name) for name in _TESTED} for row in trials.results(version, actor)]
    return {"skill": str(version.skill), "version": version.number, "tests": tests}


class VersionTriggerTests(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="get_trigger_tests",
        summary="How a version's trigger tests ended",
        tags=["versions"],
        responses=TriggerTestsDoc,
        examples=[examples.answers(_TESTS)],
    )
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """When it was published, or tried again since, within what who did it was offered. Those of feedback
        are its team's."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        version = catalog.find_version(skill, number, self.actor, even_held=True)
        return etags.document_response(request, _tests_document(version, self.actor))


class TriggerTrials(Endpoint):
    needs = {"POST": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="try_trigger_tests",
        summary="Try a skill's trigger tests again",
        tags=["versions"],
        request=None,
        responses=TriggerTestsDoc,
        examples=[examples.answers(_TESTS)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers: those of the latest version and those written since, beside today's skills."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)

        def act() -> HttpResponse:
            try_again(skill, self.actor)
            version = catalog.find_version(skill, None, self.actor)
            return etags.document_response(request, _tests_document(version, self.actor))

        return once(request, {}, act)


class CollisionsQuery(Query):
    team = serializers.CharField(required=False, max_length=64, help_text="A skill of it is part of each.")
    skill = serializers.CharField(required=False, max_length=130, help_text="A skill, part of each.")


class AskingDoc(Doc):
    skill = serializers.CharField()
    kind = serializers.CharField(help_text="event, intent, phrase or name.")
    text = serializers.CharField()


class CollisionDoc(Doc):
    kind = serializers.ChoiceField(
        choices=["event", "said", "near"], help_text="`said`: the same words; `near`: all of them but one."
    )
    text = serializers.CharField()
    by = AskingDoc(many=True)


class CollisionsDoc(Doc):
    complete = serializers.BooleanField(help_text="False where there are more than are told.")
    collisions = CollisionDoc(many=True)


class TriggerCollisions(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_trigger_collisions",
        summary="Which skills are asked for in the same words",
        tags=["skills"],
        parameters=[CollisionsQuery],
        responses=CollisionsDoc,
        examples=[examples.answers(_COLLISIONS)],
    )
    def get(self, request: Request) -> HttpResponse:
        """Events, phrases, intents and names that several of the skills you may see declare."""
        query = read_query(CollisionsQuery, request)
        return etags.document_response(request, document(collisions(self.actor, **query)))


class TeamSettingsDoc(Doc):
    team = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField(), help_text="The site's, if none is set.")
    failing_triggers = serializers.ChoiceField(choices=["warn", "block"])
    memory_review = serializers.ChoiceField(
        choices=MemoryReview.values, help_text="Which proposed memory a person looks at first."
    )


class TeamChange(Shape):
    languages = serializers.ListField(
        child=serializers.ChoiceField(choices=LANGUAGES), required=False, max_length=len(LANGUAGES)
    )
    failing_triggers = serializers.ChoiceField(required=False, choices=["warn", "block"])
    memory_review = serializers.ChoiceField(required=False, choices=MemoryReview.values)


class TeamSettings(Endpoint):
    needs = {"GET": (Action.SETTINGS,), "PATCH": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="get_team_settings",
        summary="Read a team's settings",
        tags=["teams"],
        responses=TeamSettingsDoc,
        examples=[examples.answers(_SETTINGS)],
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """For maintainers."""
        found = catalog.find_team(team, self.actor)
        require(self.actor, Action.SETTINGS, team=found)
        return etags.document_response(request, teams.settings_document(found))

    @extend_schema(
        operation_id="change_team_settings",
        summary="Change a team's settings",
        tags=["teams"],
        request=TeamChange,
        responses=TeamSettingsDoc,
        examples=[
            examples.asks({"languages": ["en", "zh"], "failing_triggers": "block"}),
            examples.answers(_SETTINGS),
        ],
    )
    def patch(self, request: Request, team: str) -> HttpResponse:
        """For maintainers. An empty list of languages is the site's."""
        found = catalog.find_team(team, self.actor)
        change: dict[str, Any] = read_body(TeamChange, request.data)
        if failing := change.pop("failing_triggers", None):
            change["failing_triggers_block"] = failing == "block"
        found = teams.change_settings(found, self.actor, **change)
        return etags.document_response(request, teams.settings_document(found))
