"""Starts runs of the test cases in a package."""

from __future__ import annotations

from django.db.models import QuerySet

from registry.core.sql import Reads, prepared, reader
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import File, Version
from registry.packages.checks.cases import CASES_YAML, PackagedCase, PackagedCases, parse_cases
from registry.packages.problems import Refusal
from registry.versions.publishing.version_rows import serialize_problem
from worker.attempts.unpacking import open_package
from worker.cases.errors import CASES_NONE
from worker.models import CaseResult
from worker.protocols.call import Request
from worker.runs.request import request_run


@reader
def cases_of(version: Version) -> Reads[PackagedCases]:
    """The test cases in the version's package; empty if the package has no file ``CASES_YAML``."""
    yield (found := _case_files(version.pk))
    if not found:
        return PackagedCases()
    return parse_cases(open_package(version.digest).read(CASES_YAML))


@prepared
def _case_files(version: int) -> QuerySet[File, int]:
    return File.objects.filter(version_id=version, path=CASES_YAML).values_list("pk", flat=True)


def run_cases(version: Version, actor: Actor) -> None:
    """Starts a run of each test case as the actor, and replaces the version's results. Writes an audit entry.

    Requires ``Action.SETTINGS`` and ``Action.RUN``. Raises CASES_NONE if there are no valid cases. If a
    case's request is refused, its result is the refusal.
    """
    require(actor, Action.SETTINGS, skill=version.skill)
    require(actor, Action.RUN, skill=version.skill)
    cases = cases_of(version).cases
    if not cases:
        raise CASES_NONE.refusal(version=str(version))
    CaseResult.objects.filter(version=version).delete()
    for case in cases:
        CaseResult.objects.update_or_create(
            version=version, name=case.name, defaults=_start(case, version, actor)
        )
    audit.record(actor, "version.run_cases", str(version), team=version.skill.team, cases=len(cases))


def _start(case: PackagedCase, version: Version, actor: Actor) -> dict[str, object]:
    request = Request(
        inputs=case.inputs,
        arguments=case.arguments,
        script=case.script,
        action=case.action,
        tool=case.tool,
        stdin=case.stdin,
    )
    try:
        run = request_run(actor=actor, version=version, request=request, no_cache=True, case_name=case.name)
    except Refusal as error:
        return {"run": None, "problem": serialize_problem(error.problems[0]), "started_by": actor.user}
    return {"run": run, "problem": None, "started_by": actor.user}
