from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.models import Version
from registry.rates.limits import RateLimit
from worker.cases.results import STATES, CaseRow, case_results
from worker.cases.run_cases import run_cases

operation = Operations("versions")


class CaseDifferenceDoc(Doc):
    field = serializers.CharField(help_text="The compared field, such as `status` or `output/rows/0`.")
    expected = serializers.CharField(help_text='The expected value as JSON text; "" if no value is expected.')
    actual = serializers.CharField(help_text='The actual value as JSON text; "" if the value is missing.')


class CaseDoc(Doc):
    name = serializers.CharField()
    line = serializers.IntegerField(allow_null=True, help_text="The line in tests/cases.yaml.")
    state = serializers.ChoiceField(
        choices=STATES,
        help_text="Result of the case; `unknown` if you can't read its run or the run's content was erased.",
    )
    run = serializers.CharField(allow_null=True, help_text="The newest run of the case.")
    problem = ProblemDoc(
        allow_null=True, help_text="The reason why the request was refused. A refused request has no run."
    )
    differences = CaseDifferenceDoc(many=True)


class CasesDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    cases = CaseDoc(many=True)
    problems = ProblemDoc(many=True, help_text="Problems of invalid cases, which are skipped.")


class VersionCases(SkillEndpoint):
    required_actions = {"GET": (Action.SETTINGS,), "POST": (Action.SETTINGS,)}
    rate_limits = {"POST": RateLimit.RUN}

    @operation("get_cases", "Get the results of a version's cases", answer=CasesDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns the package's test cases, and how the results of their newest runs differ from the expected
        ones. Requires at least the maintainer role, or administrator rights.
        """
        version = self.version(team, slug, number)
        return etag.document_response(request, _document(version, self.actor))

    @operation("run_cases", "Run a version's cases", answer=CasesDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Starts a run of each test case in your name; these runs do not count as uses. Requires permission
        to run the skill and at least the maintainer role, or administrator rights.
        """
        version = self.version(team, slug, number)
        run_cases(version, self.actor)
        return etag.document_response(request, _document(version, self.actor))


def _document(version: Version, actor: Actor) -> dict[str, Any]:
    results = case_results(version, actor)
    return {
        "skill": str(version.skill),
        "version": version.number,
        "cases": [_case(row) for row in results.rows],
        "problems": [each.document(gettext) for each in results.problems],
    }


def _case(row: CaseRow) -> dict[str, Any]:
    return {
        "name": row.case.name,
        "line": row.case.line,
        "state": row.state,
        "run": row.run.uid if row.run else None,
        "problem": row.problem.document(gettext) if row.problem else None,
        "differences": [vars(each) for each in row.differences],
    }
