"""Runs and schedules skills by agent role and skill name, for jobs of imported agent projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.identity.actors import Actor
from registry.lookup.skills import find_version
from worker.models import Run, RunStatus, Schedule
from worker.protocols.call import Request
from worker.schedules import call, change
from worker.schedules.change import ScheduleOptions
from worker.service.inline import request_and_execute


class JobExecutor:
    """Runs and schedules skills from imported agent folders, as ``actor``."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def execute_skill(
        self, agent_role: str, skill_name: str, action: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Runs the skill in this process and returns its answer, ``{"success": …, …}``.

        If there is no answer, returns an error with the failure code. Raises Refusal like ``request_run``.
        """
        version = find_version(call.find_agent_skill(agent_role, skill_name, self.actor), None, self.actor)
        request = Request(inputs=params, action=action)
        return _answer(request_and_execute(actor=self.actor, version=version, request=request))

    def schedule_skill(
        self, agent_role: str, skill_name: str, action: str, params: Mapping[str, Any], **timing: Any
    ) -> Schedule:
        """Creates a schedule of the call that ``execute_skill`` would run.

        ``timing`` has fields of ScheduleOptions, such as ``cron``. Raises the refusals of
        ``find_agent_skill`` and ``change.create``.
        """
        skill = call.find_agent_skill(agent_role, skill_name, self.actor)
        request = Request(inputs=params, action=action)
        return change.create(skill, ScheduleOptions(request=request, **timing), self.actor)


def _answer(run: Run) -> dict[str, Any]:
    answer = (run.result or {}).get("answer")
    if isinstance(answer, dict):
        return answer
    error = {"code": run.failure_code, "message": run.message}
    return {"success": run.status == RunStatus.SUCCEEDED, **({"error": error} if run.failure_code else {})}
