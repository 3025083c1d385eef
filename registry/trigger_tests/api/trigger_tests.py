"""Endpoints that run trigger tests, list trigger collisions, and change a team's settings."""

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint, SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Query, Shape, StrictBoolean, read_body, read_query
from registry.core.languages import LANGUAGES
from registry.identity import teams
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.models import MemoryReview, RunReaders, TriggerTestOrigin, Version
from registry.trigger_tests import evaluate
from registry.trigger_tests.collisions import collisions_document, find_collisions
from registry.trigger_tests.reevaluate import reevaluate_tests

operation = Operations("versions")
_TEST_FIELDS = ("utterance", "must_match", "passed", "origin", "line")


class TriggerTestDoc(Doc):
    utterance = serializers.CharField()
    must_match = serializers.BooleanField()
    passed = serializers.BooleanField()
    origin = serializers.ChoiceField(choices=TriggerTestOrigin.values)
    line = serializers.IntegerField(
        allow_null=True,
        help_text="The line in tests/triggers.yaml; null for tests that are not in this file.",
    )


class TriggerTestsDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    tests = TriggerTestDoc(many=True)


def _tests_document(version: Version, actor: Actor) -> dict[str, Any]:
    tests = [
        {name: getattr(row, name) for name in _TEST_FIELDS} for row in evaluate.stored_results(version, actor)
    ]
    return {"skill": str(version.skill), "version": version.number, "tests": tests}


class VersionTriggerTests(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("get_trigger_tests", "Get the trigger test results of a version", answer=TriggerTestsDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns the results of the last run of the tests. The results depend on the skills that the person
        who ran the tests can see. Tests outside the package are visible only to the skill's team and to
        administrators.
        """
        version = self.version(team, slug, number)
        return etag.document_response(request, _tests_document(version, self.actor))


class TriggerTestRuns(SkillEndpoint):
    required_actions = {"POST": (Action.SETTINGS,)}

    @operation("run_trigger_tests", "Run a skill's trigger tests again", answer=TriggerTestsDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Runs the tests of the latest version and the newest tests outside the package, against the
        current skills, and stores the results. Requires the maintainer role or administrator rights.
        """
        skill = self.skill(team, slug)
        reevaluate_tests(skill, self.actor)
        version = skills.find_version(skill, None, self.actor)
        return etag.document_response(request, _tests_document(version, self.actor))


class CollisionsQuery(Query):
    team = serializers.CharField(
        required=False, max_length=64, help_text="Only collisions that involve this team."
    )
    skill = serializers.CharField(
        required=False, max_length=130, help_text="Only collisions that involve this skill."
    )


class CollidingTriggerDoc(Doc):
    skill = serializers.CharField()
    kind = serializers.CharField(help_text="The kind of trigger: `event`, `intent`, `phrase` or `name`.")
    text = serializers.CharField()


class CollisionDoc(Doc):
    kind = serializers.ChoiceField(
        choices=["event", "exact", "similar"],
        help_text="`event` for equal event types, `exact` for the same words, `similar` if one word differs.",
    )
    text = serializers.CharField()
    triggers = CollidingTriggerDoc(many=True)


class CollisionsDoc(Doc):
    complete = serializers.BooleanField(
        help_text="False if the list is incomplete because there are too many collisions."
    )
    collisions = CollisionDoc(many=True)


class TriggerCollisions(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "list_trigger_collisions",
        "List trigger collisions",
        tag="skills",
        query=CollisionsQuery,
        answer=CollisionsDoc,
    )
    def get(self, request: Request) -> HttpResponse:
        """Returns equal or similar triggers that several skills visible to you declare. Skills that agents
        can't invoke are ignored.
        """
        query = read_query(CollisionsQuery, request)
        return etag.document_response(request, collisions_document(find_collisions(self.actor, **query)))


class TeamSettingsDoc(Doc):
    team = serializers.CharField()
    languages = serializers.ListField(
        child=serializers.CharField(),
        help_text="Languages in which the team's users write; default: the site's languages.",
    )
    failing_triggers = serializers.ChoiceField(choices=["warn", "block"])
    memory_review = serializers.ChoiceField(
        choices=MemoryReview.values, help_text="The proposed memories of the team that need a review."
    )
    run_readers = serializers.ChoiceField(
        choices=RunReaders.values,
        help_text="Who can read the content of the team's runs: `caller`: their caller and maintainers; "
        "`team`: all members.",
    )
    share_links = serializers.BooleanField(
        help_text="False if the team allows no links to its runs; existing links then stop working."
    )


class TeamSettingsRequest(Shape):
    languages = serializers.ListField(
        child=serializers.ChoiceField(choices=LANGUAGES), required=False, max_length=len(LANGUAGES)
    )
    failing_triggers = serializers.ChoiceField(required=False, choices=["warn", "block"])
    memory_review = serializers.ChoiceField(required=False, choices=MemoryReview.values)
    run_readers = serializers.ChoiceField(required=False, choices=RunReaders.values)
    share_links = StrictBoolean(required=False)


class TeamSettings(Endpoint):
    required_actions = {"GET": (Action.SETTINGS,), "PATCH": (Action.SETTINGS,)}

    @operation("get_team_settings", "Get a team's settings", tag="teams", answer=TeamSettingsDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Returns the team's languages, and its settings for trigger tests, memory reviews and runs.
        Requires the maintainer role or administrator rights.
        """
        found = skills.find_team(team, self.actor)
        require(self.actor, Action.SETTINGS, team=found)
        return etag.document_response(request, teams.settings_document(found))

    @operation(
        "update_team_settings",
        "Update a team's settings",
        tag="teams",
        body=TeamSettingsRequest,
        answer=TeamSettingsDoc,
    )
    def patch(self, request: Request, team: str) -> HttpResponse:
        """Changes the settings that you send. With an empty list of languages, the team uses the site's
        languages. Requires the maintainer role or administrator rights.
        """
        found = skills.find_team(team, self.actor)
        change: dict[str, Any] = read_body(TeamSettingsRequest, request.data)
        if failing := change.pop("failing_triggers", None):
            change["failing_triggers_block"] = failing == "block"
        found = teams.change_settings(found, self.actor, **change)
        return etag.document_response(request, teams.settings_document(found))
