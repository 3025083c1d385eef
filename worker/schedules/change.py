"""Creates, edits, pauses, resumes, deletes and restores schedules, and starts a run of one at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, in_scope, may, require
from registry.identity.teams import calling_team
from registry.models import Skill, Team
from worker.core import clock
from worker.files.inputs import uses_of
from worker.models import (
    CatchUpPolicy,
    OverlapPolicy,
    Schedule,
    ScheduleFiring,
    ScheduleQuerySet,
    ScheduleState,
)
from worker.protocols.call import Request
from worker.runs.request import check_request
from worker.schedules import announce, call, errors, plan, run_as
from worker.schedules.timing import Timing, checked_timing, timing_of

UNDO_PERIOD = timedelta(minutes=10)
MAX_NAME = 120
MAX_REASON = 500
_TIMING = ("kind", "cron", "every_s", "at", "time_zone")
_RELATED = ("skill__team", "team", "run_as", "token__owner", "token__team", "paused_by", "created_by")


@dataclass(frozen=True)
class ScheduleOptions:
    """The settings of a schedule. Exactly one of ``cron``, ``every_s`` and ``at`` is set, and at most one of
    ``version`` and ``channel``.
    """

    name: str = ""
    request: Request = field(default_factory=Request)
    cron: str = ""
    every_s: int | None = None
    at: datetime | None = None
    time_zone: str = "UTC"
    jitter_s: int = 0
    overlap: str = OverlapPolicy.SKIP
    catch_up: str = CatchUpPolicy.NONE
    catch_up_limit: int = 10
    version: str = ""
    channel: str = ""
    team: Team | None = None
    run_as: str = ""  # a username; "" for the actor
    token: str = ""  # the uid of a token
    is_paused: bool = False

    def timing(self, now: datetime) -> Timing:
        """The checked timing; raises the refusals of ``checked_timing``."""
        return checked_timing(
            now=now, cron=self.cron, every_s=self.every_s, at=self.at, time_zone=self.time_zone
        )


def options_of(schedule: Schedule, actor: Actor) -> ScheduleOptions:
    """The current settings as options. If the actor may not choose the current user and token, the options
    name the actor.

    Raises FORBIDDEN if the actor can't read the inputs.
    """
    if not Schedule.objects.readable_by(actor).filter(pk=schedule.pk).exists():
        raise FORBIDDEN.refusal(action="change this schedule")
    keeps = run_as.may_use(schedule, actor)
    account = schedule.run_as.username if schedule.run_as and keeps and not schedule.token_name else ""
    return ScheduleOptions(
        name=schedule.name,
        request=call.request_of(schedule),
        cron=schedule.cron,
        every_s=schedule.every_s,
        at=schedule.at,
        time_zone=schedule.time_zone,
        jitter_s=schedule.jitter_s,
        overlap=schedule.overlap,
        catch_up=schedule.catch_up,
        catch_up_limit=schedule.catch_up_limit,
        version=schedule.version_number,
        channel=schedule.channel,
        team=schedule.team,
        run_as="" if actor.token else account,
        token=schedule.token.uid if schedule.token and keeps else "",
    )


def schedules(actor: Actor) -> ScheduleQuerySet:
    return Schedule.objects.visible_to(actor).select_related(*_RELATED)


def find(uid: str, actor: Actor) -> Schedule:
    """The schedule with this uid; raises NOT_FOUND if the actor can't see it or it was deleted."""
    found = schedules(actor).filter(uid=uid[:26]).first()
    if found is None:
        raise NOT_FOUND.refusal(what="schedule", name=uid[:80])
    return found


def may_change(schedule: Schedule, actor: Actor) -> bool:
    """Whether the actor may edit, pause and delete the schedule: one of their own, or of a team that they
    maintain or own; as administrator, any. A token may change only its own schedules.
    """
    if actor.token:
        return schedule.token_id == actor.token.pk and in_scope(actor, Action.RUN)
    own = actor.user is not None and actor.user.pk in (schedule.created_by_id, schedule.run_as_id)
    return own or may(actor, Action.EVENTS, team=schedule.team, even_archived=True)


def create(skill: Skill, options: ScheduleOptions, actor: Actor) -> Schedule:
    """Creates a schedule, after the checks of a run request, with an audit entry and an event.

    The schedule keeps the request's files. Raises SCHEDULE_VERSION_INVALID if both version and channel are
    given, and INPUT_NOT_FOUND for a file that the actor can't use. Also raises the refusals of the checks, of
    the timing, of ``run_as.choose`` and of the version look-up.
    """
    schedule = Schedule(
        skill=skill,
        created_by=actor.user,
        state=ScheduleState.ACTIVE,
        team=calling_team(actor, skill, options.team),
    )
    now = clock.now()
    _apply(schedule, options, actor, now)
    if options.is_paused:
        schedule.state, schedule.paused_at, schedule.paused_by = ScheduleState.PAUSED, now, actor.user
    with transaction.atomic():
        schedule.save()
        audit.record(actor, "schedule.create", schedule.uid, team=schedule.team, skill=schedule.skill_label)
        announce.announce(schedule, "created", by=actor.user.username if actor.user else "")
    return schedule


def edit(schedule: Schedule, options: ScheduleOptions, actor: Actor) -> Schedule:
    """Replaces all settings except the skill; a finished schedule becomes active again.

    Raises FORBIDDEN unless ``may_change``, SCHEDULE_SKILL_DELETED if the skill no longer exists, and the
    refusals of ``create``.
    """
    with transaction.atomic():
        schedule = _lock(schedule, actor)
        if schedule.skill is None:
            raise errors.SCHEDULE_SKILL_DELETED.refusal(skill=schedule.skill_label)
        schedule.team = calling_team(actor, schedule.skill, options.team or schedule.team)
        _apply(schedule, options, actor, clock.now())
        if schedule.state == ScheduleState.FINISHED:
            schedule.state = ScheduleState.ACTIVE
        schedule.save()
        audit.record(actor, "schedule.edit", schedule.uid, team=schedule.team, skill=schedule.skill_label)
    return schedule


def pause(schedule: Schedule, actor: Actor, reason: str = "") -> Schedule:
    """Pauses the schedule: pending firings are skipped, and no run starts until ``resume``.

    Raises FORBIDDEN unless ``may_change``, SCHEDULE_STATE unless the schedule is active, and TEXT_INVALID for
    an invalid reason.
    """
    reason = text.validated(reason, field="reason", max_length=MAX_REASON, allow_blank=True)
    with transaction.atomic():
        schedule = _lock(schedule, actor)
        _require_state(schedule, ScheduleState.ACTIVE)
        now = clock.now()
        schedule.state, schedule.paused_at, schedule.paused_by = ScheduleState.PAUSED, now, actor.user
        schedule.pause_reason, schedule.pause_problem = reason, None
        schedule.save()
        announce.skip_pending(schedule, now)
        audit.record(actor, "schedule.pause", schedule.uid, team=schedule.team, reason=reason)
        announce.announce(schedule, "paused", reason=reason)
    return schedule


def resume(schedule: Schedule, actor: Actor) -> Schedule:
    """Resumes the schedule with the version that is due now, after the checks of ``create``. Records the due
    times during the pause as skipped.

    Raises FORBIDDEN unless ``may_change``, SCHEDULE_STATE unless the schedule is paused, and the refusals of
    the checks.
    """
    with transaction.atomic():
        schedule = _lock(schedule, actor)
        _require_state(schedule, ScheduleState.PAUSED)
        _check(schedule, actor)
        now = clock.now()
        plan.skip_until(schedule, now, errors.FIRING_PAUSED.problem())
        schedule.next_at = timing_of(schedule).next_after(now)
        schedule.state = ScheduleState.ACTIVE if schedule.next_at else ScheduleState.FINISHED
        schedule.paused_at = schedule.paused_by = schedule.pause_problem = None
        schedule.pause_reason = ""
        schedule.save()
        audit.record(actor, "schedule.resume", schedule.uid, team=schedule.team)
    return schedule


def run_now(schedule: Schedule, actor: Actor) -> ScheduleFiring:
    """Creates a firing that is due now, next to the schedule's own due times. It starts a run, or not, like
    these.

    Raises FORBIDDEN unless ``may_change``, and SCHEDULE_STATE unless the schedule is active.
    """
    with transaction.atomic():
        schedule = _lock(schedule, actor)
        _require_state(schedule, ScheduleState.ACTIVE)
        now = clock.now()
        firing = ScheduleFiring.objects.create(schedule=schedule, due=now, last_due=now, fire_at=now)
        audit.record(actor, "schedule.run", schedule.uid, team=schedule.team, name=schedule.name)
    return firing


def delete(schedule: Schedule, actor: Actor) -> None:
    """Deletes the schedule and skips its pending firings, but keeps its runs; ``restore`` can undo this for
    ten minutes. Raises FORBIDDEN unless ``may_change``.
    """
    with transaction.atomic():
        schedule = _lock(schedule, actor)
        schedule.deleted_at = timezone.now()
        schedule.save(update_fields=["deleted_at"])
        announce.skip_pending(schedule, clock.now())
        audit.record(actor, "schedule.delete", schedule.uid, team=schedule.team, name=schedule.name)


def restore(uid: str, actor: Actor) -> Schedule:
    """Undoes ``delete``. Raises NOT_FOUND if there is no deleted schedule that the actor may change, and
    SCHEDULE_UNDO_EXPIRED after ten minutes.
    """
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(of=("self",)).select_related(*_RELATED)
        schedule = rows.filter(uid=uid[:26], deleted_at__isnull=False).first()
        if schedule is None or not may_change(schedule, actor):
            raise NOT_FOUND.refusal(what="schedule", name=uid[:80])
        if not schedule.deleted_at or schedule.deleted_at < timezone.now() - UNDO_PERIOD:
            raise errors.SCHEDULE_UNDO_EXPIRED.refusal()
        schedule.deleted_at = None
        schedule.save(update_fields=["deleted_at"])
        audit.record(actor, "schedule.restore", schedule.uid, team=schedule.team, name=schedule.name)
    return schedule


def _apply(schedule: Schedule, options: ScheduleOptions, actor: Actor, now: datetime) -> None:
    assert schedule.skill
    if options.version and options.channel:
        raise errors.SCHEDULE_VERSION_INVALID.refusal().at("version")
    timing = options.timing(now)
    before = (schedule.run_as_id, schedule.token_id)
    chosen = run_as.choose(actor, name=options.run_as, token=options.token, team=schedule.team)
    schedule.run_as, schedule.token = chosen.user, chosen.token
    schedule.token_name = chosen.token.name if chosen.token else ""
    if before != (schedule.run_as_id, schedule.token_id):
        schedule.approval, schedule.approved_by = {}, None
    if any(getattr(timing, name) != getattr(schedule, name) for name in _TIMING):
        schedule.starts_at = timing.starts_at
    for name in _TIMING:
        setattr(schedule, name, getattr(timing, name))
    schedule.next_at = timing_of(schedule).next_after(now)
    schedule.jitter_s, schedule.overlap = options.jitter_s, options.overlap
    schedule.catch_up, schedule.catch_up_limit = options.catch_up, options.catch_up_limit
    schedule.request = call.request_document(options.request)
    schedule.version_number, schedule.digest = options.version, ""
    schedule.channel = "" if options.version else options.channel or call.DEFAULT_CHANNEL
    schedule.name = _checked_name(options.name, schedule)
    _check(schedule, actor)


def _checked_name(name: str, schedule: Schedule) -> str:
    given = name.strip() or str(schedule.skill)
    return text.validated(given, field="name", max_length=MAX_NAME)


def _check(schedule: Schedule, actor: Actor) -> None:
    """Checks that a run could start now, and sets what the schedule stores about its skill, version and
    files. The request can use the files of ``actor`` and those that the schedule has.
    """
    skill = schedule.skill
    if skill is None or skill.purged_at:
        raise errors.SCHEDULE_SKILL_DELETED.refusal(skill=schedule.skill_label)
    require(actor, Action.RUN, skill=skill)
    runner, request = run_as.actor_of(schedule), call.request_of(schedule)
    version = call.due_version(schedule, runner)
    checked = check_request(
        actor=runner,
        version=version,
        request=request,
        team=schedule.team,
        kept=uses_of(schedule.files),
        files_of=actor,
    )
    schedule.files = checked.files
    if schedule.version_number:
        schedule.version_number, schedule.digest = version.number, version.digest
    schedule.team, schedule.skill_team, schedule.skill_label = checked.team, skill.team, str(skill)
    schedule.expected = call.expectations_of(version, request)


def _lock(schedule: Schedule, actor: Actor) -> Schedule:
    """The schedule reloaded, with its row locked. Raises NOT_FOUND if the actor can't see it, FORBIDDEN
    unless ``may_change``.
    """
    rows = Schedule.objects.visible_to(actor).select_for_update(of=("self",)).select_related(*_RELATED)
    locked = rows.filter(pk=schedule.pk).first()
    if locked is None:
        raise NOT_FOUND.refusal(what="schedule", name=schedule.uid)
    if not may_change(locked, actor):
        raise FORBIDDEN.refusal(action="change this schedule")
    return locked


def _require_state(schedule: Schedule, state: ScheduleState) -> None:
    if schedule.state != state:
        raise errors.SCHEDULE_STATE.refusal(state=text.choice_label(ScheduleState(schedule.state)))
