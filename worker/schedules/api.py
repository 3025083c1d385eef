from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, read_body, read_query
from registry.core.errors import FIELD_REQUIRED
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.models import Skill
from registry.rates.limits import RateLimit
from worker.api.documents.schedules import (
    FiringDoc,
    FiringsQuery,
    NextRunsDoc,
    PauseRequest,
    ScheduleChange,
    ScheduleDoc,
    ScheduleRequest,
    SchedulesQuery,
    ScheduleSummaryDoc,
    TimingQuery,
)
from worker.core import clock
from worker.models import Schedule
from worker.schedules import call, change
from worker.schedules.change import ScheduleOptions
from worker.schedules.documents import firing_document, schedule_document, schedule_summary
from worker.schedules.timing import checked_timing

operation = Operations("schedules")
_READS = (Action.READ_RUNS, Action.RUN)
_TIMES = ("cron", "every_s", "at")
_COPIED = ("name", "time_zone", "jitter_s", "overlap", "catch_up", "catch_up_limit", "run_as", "token")


class Schedules(Endpoint):
    required_actions = {"GET": _READS, "POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}
    requires_sign_in = True

    @operation(
        "list_schedules", "List schedules", query=SchedulesQuery, answer=page_schema(ScheduleSummaryDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists your schedules and those of your teams, newest first; administrators get all."""
        query = read_query(SchedulesQuery, request)
        lookups = {"state": "state", "skill": "skill_label", "team": "team__slug"}
        rows = change.schedules(self.actor)
        rows = rows.filter(**{lookup: query[name] for name, lookup in lookups.items() if name in query})
        if text := query.get("skill_contains"):
            rows = rows.of_skills_containing(text, self.actor)
        found, cursor = pagination.newest_first(rows, pagination.read_page("schedules", query, kinds=(str,)))
        return etag.document_response(
            request, page_document([schedule_summary(row) for row in found], cursor)
        )

    @operation("create_schedule", "Create a schedule", body=ScheduleRequest, answer={201: ScheduleDoc})
    @idempotent(ScheduleRequest)
    def post(self, request: Request) -> HttpResponse:
        """Checks the inputs and creates a schedule that starts runs at its due times. One approval covers all
        its runs with the same digest, entry point and permissions.
        """
        body = read_body(ScheduleRequest, request.data)
        skill, number = _find_skill(body, self.actor)
        options = _merge_settings(ScheduleOptions(version=number, is_paused=body["paused"]), body, self.actor)
        schedule = change.create(skill, options, self.actor)
        response = etag.document_response(request, schedule_document(schedule, self.actor), status=201)
        response["Location"] = api_url("schedules", schedule.uid)
        return response


class NextRuns(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation("preview_schedule", "Preview due times", query=TimingQuery, answer=NextRunsDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns the next ten due times of a cron expression, an interval or a time, without saving a
        schedule.
        """
        query, now = read_query(TimingQuery, request), clock.now()
        timing = checked_timing(now=now, **query)
        return etag.document_response(request, {"next_runs": [rfc3339(at) for at in timing.next_runs(now)]})


class _OneSchedule(Endpoint):
    requires_sign_in = True

    def respond(self, request: Request, schedule: Schedule) -> HttpResponse:
        return etag.document_response(request, schedule_document(schedule, self.actor))


class ScheduleDetail(_OneSchedule):
    required_actions = {"GET": _READS, "PATCH": (Action.RUN,), "DELETE": (Action.RUN,)}

    @operation("get_schedule", "Get a schedule", answer=ScheduleDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the schedule with its next ten due times."""
        return self.respond(request, change.find(uid, self.actor))

    @operation("edit_schedule", "Edit a schedule", body=ScheduleChange, answer=ScheduleDoc)
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Changes the fields that you send. You can change your own schedules and those of teams that you
        maintain. A schedule of another person then runs as you, unless you may choose its account.
        """
        schedule = change.find(uid, self.actor)
        body = read_body(ScheduleChange, request.data)
        options = _merge_settings(change.options_of(schedule, self.actor), body, self.actor)
        return self.respond(request, change.edit(schedule, options, self.actor))

    @operation("delete_schedule", "Delete a schedule")
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Deletes the schedule but keeps its runs. You can restore the schedule within ten minutes."""
        change.delete(change.find(uid, self.actor), self.actor)
        return etag.set_private(HttpResponse(status=204))


class Pause(_OneSchedule):
    required_actions = {"POST": (Action.RUN,)}

    @operation("pause_schedule", "Pause a schedule", body=PauseRequest, answer=ScheduleDoc)
    @idempotent(PauseRequest)
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Pauses the schedule until you resume it. Active runs continue."""
        schedule = change.find(uid, self.actor)
        reason = read_body(PauseRequest, request.data)["reason"]
        return self.respond(request, change.pause(schedule, self.actor, reason))


class Resume(_OneSchedule):
    required_actions = {"POST": (Action.RUN,)}

    @operation("resume_schedule", "Resume a schedule", answer=ScheduleDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Resumes the schedule and accepts the current version's inputs and permissions. Due times during the
        pause are recorded as skipped.
        """
        return self.respond(request, change.resume(change.find(uid, self.actor), self.actor))


class Restore(_OneSchedule):
    required_actions = {"POST": (Action.RUN,)}

    @operation("restore_schedule", "Restore a deleted schedule", answer=ScheduleDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Restores a schedule within ten minutes of its deletion."""
        return self.respond(request, change.restore(uid, self.actor))


class RunNow(_OneSchedule):
    required_actions = {"POST": (Action.RUN,)}
    rate_limits = {"POST": RateLimit.RUN}

    @operation("run_schedule", "Run a schedule now", answer={202: FiringDoc})
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Starts a run now, in addition to the due times and by the same rules, such as those for overlaps.
        Returns the pending firing; the list of firings shows later whether a run started.
        """
        firing = change.run_now(change.find(uid, self.actor), self.actor)
        return etag.document_response(request, firing_document(firing), status=202)


class Firings(_OneSchedule):
    required_actions = {"GET": _READS}

    @operation("list_firings", "List a schedule's firings", query=FiringsQuery, answer=page_schema(FiringDoc))
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Lists due times, newest first, each with its run or the reason why no run started."""
        query = read_query(FiringsQuery, request)
        rows = change.find(uid, self.actor).firings.select_related("run")
        if "state" in query:
            rows = rows.filter(state=query["state"])
        found, cursor = pagination.last_first(rows, pagination.read_page("firings", query, kinds=(int,)))
        return etag.document_response(request, page_document([*map(firing_document, found)], cursor))


def _find_skill(body: Mapping[str, Any], actor: Actor) -> tuple[Skill, str]:
    """The skill that the body names, and the version after the "@" in its name ("" if there is none)."""
    if label := body.get("skill"):
        label, _, number = label.partition("@")
        return skills.find_skill(label, actor), number
    if not (body.get("agent_role") and body.get("skill_name")):
        raise FIELD_REQUIRED.refusal(field="skill").at("skill")
    return call.find_agent_skill(body["agent_role"], body["skill_name"], actor), ""


def _merge_settings(options: ScheduleOptions, body: Mapping[str, Any], actor: Actor) -> ScheduleOptions:
    changes: dict[str, Any] = {name: body[name] for name in _COPIED if name in body}
    if any(name in body for name in _TIMES):
        changes |= {"cron": body.get("cron", ""), "every_s": body.get("every_s"), "at": body.get("at")}
    if "version" in body or "channel" in body:
        changes |= {"version": body.get("version", ""), "channel": body.get("channel", "")}
    if body.get("team"):
        changes["team"] = skills.find_team(body["team"], actor)
    if "run_as" in body:
        changes.setdefault("token", "")
    if "token" in body:
        changes.setdefault("run_as", "")
    parts = {name: body[name] for name in call.REQUEST_FIELDS if name in body}
    if "params" in body:
        parts["inputs"] = body["params"]
    return replace(options, request=replace(options.request, **parts), **changes)
