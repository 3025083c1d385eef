"""What becomes of due times: runs, and reasons why there is none."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import Membership, Role, Team, User
from registry.packages.problems import Refusal
from tests.worker.schedules.conftest import START
from worker.models import Approval, Run, RunStatus, Schedule
from worker.schedules import change

pytestmark = [pytest.mark.row("B7"), pytest.mark.django_db]
ASKS = "allowed-tools: [Bash]\n"
STARTED = ("started", "")


def end_runs(status="succeeded"):
    Run.objects.exclude(status="waiting_approval").update(status=status)


def first_run():
    return Run.objects.order_by("pk")[0]


def last_run():
    return Run.objects.order_by("-pk")[0]


def only(schedule):
    schedule.refresh_from_db()
    return schedule


def test_due_schedule_starts_one_run_with_its_inputs(make_schedule, hello, schedule_clock, outcomes):
    schedule = make_schedule(hello, {"who": "Bob"})
    for _ in range(3):
        schedule_clock.fire(seconds=15)
    assert outcomes(schedule) == [STARTED]
    run = Run.objects.get()
    assert run.request["inputs"] == {"who": "Bob"}
    assert (run.caller, run.team, run.version_number) == (schedule.run_as, schedule.team, "1.0.0")
    assert run.idempotency_key == f"schedule:{schedule.uid}:20260302T090100Z"
    assert run.token_name == f"schedule {schedule.name}"


def test_two_loops_start_one_run(make_schedule, hello, schedule_clock, outcomes):
    from worker.schedules import fire, plan

    schedule = make_schedule(hello)
    schedule_clock.pass_time(seconds=40)

    def start(firing):
        plan.plan_due(schedule_clock.now)
        assert fire.fire_pending(schedule_clock.now) == 0
        return fire.start_run(firing)

    plan.plan_due(schedule_clock.now)
    fire.fire_pending(schedule_clock.now, start)
    assert (outcomes(schedule), Run.objects.count()) == ([STARTED], 1)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("none", [("missed", "FIRING_MISSED")]),
        ("last", [("missed", "FIRING_MISSED"), STARTED]),
        ("all", [("missed", "FIRING_MISSED"), *[STARTED] * 3]),
    ],
)
def test_catch_up_policy_decides_on_missed_times(
    policy, expected, make_schedule, hello, schedule_clock, outcomes
):
    schedule = make_schedule(hello, cron="0 * * * *", catch_up=policy, catch_up_limit=3, overlap="parallel")
    schedule_clock.fire(hours=9, minutes=20)
    assert outcomes(schedule) == expected
    missed = schedule.firings.order_by("due")[0]
    assert missed.count == 9 - (len(expected) - 1)
    assert all(row.is_late for row in schedule.firings.filter(state="started"))


def test_catch_up_of_the_last_time_starts_no_late_run_next_to_a_timely_one(
    make_schedule, hello, schedule_clock, outcomes
):
    schedule = make_schedule(hello, cron="0 * * * *", catch_up="last", overlap="parallel")
    schedule_clock.fire(hours=2, minutes=59, seconds=35)
    assert outcomes(schedule) == [("missed", "FIRING_MISSED"), STARTED]
    assert not schedule.firings.get(state="started").is_late


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("skip", [STARTED, ("skipped", "FIRING_OVERLAP")]),
        ("queue", [STARTED, ("pending", "")]),
        ("cancel", [STARTED, ("pending", "")]),
        ("parallel", [STARTED, STARTED]),
    ],
)
def test_overlap_policy_decides_on_runs_that_meet(
    policy, expected, make_schedule, hello, schedule_clock, outcomes
):
    schedule = make_schedule(hello, overlap=policy)
    schedule_clock.fire(minutes=1)
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == expected
    assert (first_run().status == "cancelled") is (policy == "cancel")
    end_runs()
    schedule_clock.fire(seconds=5)
    assert Run.objects.count() == (1 if policy == "skip" else 2)


def test_jitter_delays_the_run_by_at_most_its_seconds(make_schedule, hello, schedule_clock):
    schedule = make_schedule(hello, cron="0 * * * *", jitter_s=600)
    schedule_clock.fire(minutes=59, seconds=31)
    firing = schedule.firings.get()
    assert timedelta(0) < firing.fire_at - firing.due <= timedelta(seconds=600)
    assert not Run.objects.exists()
    schedule_clock.now = firing.fire_at
    schedule_clock.fire()
    assert Run.objects.count() == 1


def test_single_time_finishes_the_schedule(make_schedule, hello, schedule_clock, outcomes):
    schedule = make_schedule(hello, at=START + timedelta(hours=1))
    schedule_clock.fire(hours=1)
    assert (outcomes(schedule), only(schedule).state, schedule.next_at) == ([STARTED], "finished", None)


def test_invalid_inputs_are_refused_when_saved(make_schedule, publish_skill):
    front = "input_schema:\n  type: object\n  required: [city]\n  properties:\n    city: {type: string}\n"
    version = publish_skill("weather", front=front)
    with pytest.raises(Refusal) as refused:
        make_schedule(version, {})
    assert refused.value.code == "MISSING_PARAM"
    assert not Schedule.objects.exists()


def test_channel_is_followed_until_permissions_change(
    make_schedule, hello, publish_skill, schedule_clock, outcomes, alice
):
    schedule = make_schedule(hello)
    schedule_clock.fire(minutes=1)
    end_runs()
    publish_skill(number="1.1.0")
    schedule_clock.fire(minutes=1)
    assert last_run().version_number == "1.1.0"
    end_runs()
    publish_skill(number="1.2.0", front=ASKS)
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule)[2] == ("skipped", "SCHEDULE_PERMISSIONS_CHANGED")
    assert (only(schedule).state, schedule.pause_problem["code"]) == (
        "paused",
        "SCHEDULE_PERMISSIONS_CHANGED",
    )
    change.resume(schedule, Actor(user=alice))
    schedule_clock.fire(minutes=1)
    assert last_run().version_number == "1.2.0"


def test_changed_input_schema_pauses_the_schedule(make_schedule, hello, publish_skill, schedule_clock):
    schedule = make_schedule(hello)
    publish_skill(
        number="1.1.0", front="input_schema:\n  type: object\n  properties:\n    who: {type: string}\n"
    )
    schedule_clock.fire(minutes=1)
    assert only(schedule).pause_problem["code"] == "SCHEDULE_INPUTS_CHANGED"


def test_pinned_schedule_stays_on_its_version(make_schedule, hello, publish_skill, schedule_clock):
    schedule = make_schedule(hello, version="1.0.0")
    publish_skill(number="2.0.0", front=ASKS)
    schedule_clock.fire(minutes=1)
    assert (Run.objects.get().version_number, schedule.digest) == ("1.0.0", hello.digest)


def test_pinned_version_with_another_digest_is_refused(make_schedule, hello, schedule_clock, outcomes):
    schedule = make_schedule(hello, version="1.0.0")
    Schedule.objects.update(digest="sha256:" + "0" * 64)
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == [("refused", "SCHEDULE_DIGEST_CHANGED")]


def test_full_queue_skips_further_due_times(make_schedule, hello, schedule_clock, outcomes, monkeypatch):
    monkeypatch.setattr("worker.schedules.fire.MAX_QUEUED", 2)
    schedule = make_schedule(hello, overlap="queue")
    for _ in range(4):
        schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == [STARTED, ("pending", ""), ("pending", ""), ("skipped", "FIRING_QUEUE_FULL")]


def test_held_version_is_recorded_as_refused(make_schedule, hello, schedule_clock, outcomes):
    schedule = make_schedule(hello)
    type(hello).objects.update(held_at=timezone.now())
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == [("refused", "VERSION_HELD")]
    assert only(schedule).state == "active"


def test_exceeded_quota_is_recorded_as_refused(make_schedule, hello, schedule_clock, outcomes, settings):
    settings.SKILLQUAY_TEAM_LIMITS = settings.SKILLQUAY_TEAM_LIMITS | {"runs_per_day": 1}
    schedule = make_schedule(hello)
    schedule_clock.fire(minutes=1)
    end_runs()
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == [STARTED, ("refused", "TEAM_RUNS_EXCEEDED")]


def test_approval_covers_later_runs_of_the_same_content(
    make_schedule, publish_skill, schedule_clock, outcomes, alice
):
    from worker.approvals import decide, requests
    from worker.models import ApprovalDecision

    schedule = make_schedule(publish_skill("asks", front=ASKS))
    schedule_clock.fire(minutes=1)
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule) == [STARTED, ("skipped", "FIRING_APPROVAL")]
    approval = requests.find(Approval.objects.get().run.uid, Actor(user=alice))
    decide.decide(approval, ApprovalDecision.ONCE, Actor(user=alice))
    assert Run.objects.get().status == RunStatus.QUEUED
    for _ in range(2):
        end_runs()
        schedule_clock.fire(minutes=1)
    assert Approval.objects.count() == 1
    assert [run.permission["basis"] for run in Run.objects.order_by("pk")] == ["approval"] * 3
    publish_skill("asks", number="1.0.1", front=ASKS)  # another digest with the same permissions
    end_runs()
    schedule_clock.fire(minutes=1)
    assert last_run().status == RunStatus.WAITING_APPROVAL


def test_approval_does_not_cover_runs_in_another_name(
    make_schedule, publish_skill, schedule_clock, alice, team
):
    from registry.accounts import service_accounts
    from worker.approvals import decide, requests
    from worker.models import ApprovalDecision

    owner = Actor(user=alice)
    schedule = make_schedule(publish_skill("asks", front=ASKS))
    schedule_clock.fire(minutes=1)
    decide.decide(requests.find(Run.objects.get().uid, owner), ApprovalDecision.ONCE, owner)
    end_runs()
    schedule_clock.fire(minutes=1)
    assert only(schedule).approval
    end_runs()
    account = service_accounts.create(team, "nightly", Role.MEMBER, owner).user
    change.edit(schedule, replace(change.options_of(schedule, owner), run_as=account.username), owner)
    schedule_clock.fire(minutes=1)
    assert (last_run().caller, last_run().status) == (account, RunStatus.WAITING_APPROVAL)


def test_denied_run_does_not_cover_later_runs(make_schedule, publish_skill, schedule_clock, alice):
    from worker.approvals import decide, requests
    from worker.models import ApprovalDecision

    make_schedule(publish_skill("asks", front=ASKS))
    schedule_clock.fire(minutes=1)
    approval = requests.find(Run.objects.get().uid, Actor(user=alice))
    decide.decide(approval, ApprovalDecision.DENIED, Actor(user=alice), reason="No.")
    schedule_clock.fire(minutes=1)
    assert [run.status for run in Run.objects.order_by("pk")] == ["refused", "waiting_approval"]


def deactivate(alice, bob, team):
    User.objects.filter(pk=bob.pk).update(is_active=False)


def remove(alice, bob, team):
    Membership.objects.filter(user=bob).delete()


def archive(alice, bob, team):
    Team.objects.filter(pk=team.pk).update(archived_at=START)


def transfer(alice, bob, team):
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(team=other, user=bob, role=Role.MEMBER)
    from registry.models import Skill

    Skill.objects.update(team=other)


def purge(alice, bob, team):
    from registry.models import Skill

    Skill.objects.update(purged_at=START)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (deactivate, "SCHEDULE_USER_INACTIVE"),
        (remove, "SCHEDULE_ACCESS_LOST"),
        (archive, "SCHEDULE_TEAM_ARCHIVED"),
        (transfer, "SCHEDULE_SKILL_MOVED"),
        (purge, "SCHEDULE_SKILL_DELETED"),
    ],
)
def test_schedule_stops_with_the_reason(event, code, make_schedule, hello, schedule_clock, alice, bob, team):
    schedule = make_schedule(hello, by=Actor(user=bob))
    event(alice, bob, team)
    schedule_clock.fire(minutes=1)
    assert (only(schedule).state, schedule.pause_problem["code"]) == ("paused", code)
    assert not Run.objects.exists()


@pytest.fixture
def token(alice):
    from registry.identity import tokens
    from registry.models import Token

    ends = timezone.now() + timedelta(days=1)
    tokens.issue(alice, name="nightly", scopes=["run"], expires_at=ends, by=Actor(user=alice))
    return Token.objects.get(name="nightly")


def test_token_schedule_runs_as_the_token_until_it_is_revoked(
    make_schedule, hello, schedule_clock, token, outcomes
):
    by = Actor(user=token.owner, token=token, scopes=frozenset(token.scopes))
    schedule = make_schedule(hello, by=by)
    schedule_clock.fire(minutes=1)
    assert Run.objects.get().token == token
    token.revoked_at = START
    token.save()
    schedule_clock.fire(seconds=10)
    assert only(schedule).pause_problem["code"] == "SCHEDULE_TOKEN_INVALID"


def test_schedule_lends_nobody_another_persons_name_or_inputs(
    make_schedule, hello, token, bob, administrator
):
    from worker.schedules import run_as

    schedule = make_schedule(hello, {"who": "secret"})
    with pytest.raises(Refusal) as refused:
        change.options_of(schedule, Actor(user=bob))
    assert refused.value.code == "FORBIDDEN"
    agent = Actor(user=token.owner, token=token, scopes=frozenset(token.scopes))
    assert not run_as.may_use(schedule, agent)
    with pytest.raises(Refusal) as refused:
        run_as.choose(Actor(user=administrator), token=token.uid)
    assert refused.value.code == "SCHEDULE_RUN_AS_INVALID"


def test_owner_schedules_in_the_name_of_a_service_account(make_schedule, hello, team, alice, bob):
    from registry.accounts import service_accounts

    account = service_accounts.create(team, "nightly", Role.MEMBER, Actor(user=alice)).user
    assert make_schedule(hello, run_as=account.username).run_as == account
    with pytest.raises(Refusal) as refused:
        make_schedule(hello, run_as=account.username, by=Actor(user=bob))
    assert refused.value.code == "SCHEDULE_RUN_AS_INVALID"


def test_pause_skips_its_due_times_and_says_so(make_schedule, hello, schedule_clock, outcomes, alice):
    schedule = make_schedule(hello)
    change.pause(schedule, Actor(user=alice), "Holidays.")
    schedule_clock.fire(minutes=5)
    assert outcomes(schedule) == []
    schedule = change.resume(schedule, Actor(user=alice))
    assert outcomes(schedule) == [("skipped", "FIRING_PAUSED")]
    assert schedule.firings.get().count == 5
    schedule_clock.fire(minutes=1)
    assert outcomes(schedule)[1] == STARTED


def test_deleted_schedule_starts_nothing_until_it_is_restored(
    make_schedule, hello, schedule_clock, alice, bob
):
    schedule = make_schedule(hello)
    change.delete(schedule, Actor(user=alice))
    schedule_clock.fire(minutes=1)
    assert not Run.objects.exists()
    with pytest.raises(Refusal) as refused:
        change.restore(schedule.uid, Actor(user=bob))
    assert refused.value.code == "NOT_FOUND"
    change.restore(schedule.uid, Actor(user=alice))
    schedule_clock.fire(seconds=1)
    assert Run.objects.count() == 1


def test_schedule_deleted_long_ago_can_not_be_restored(make_schedule, hello, alice):
    schedule = make_schedule(hello)
    change.delete(schedule, Actor(user=alice))
    Schedule.objects.update(deleted_at=timezone.now() - change.UNDO_PERIOD - timedelta(seconds=1))
    with pytest.raises(Refusal) as refused:
        change.restore(schedule.uid, Actor(user=alice))
    assert refused.value.code == "SCHEDULE_UNDO_EXPIRED"


def test_firing_gives_up_after_three_dead_processes(make_schedule, hello, schedule_clock, outcomes):
    from worker.schedules import fire, plan

    class Killed(BaseException):
        pass

    def die(firing):
        raise Killed

    schedule = make_schedule(hello, at=START + timedelta(minutes=1))
    schedule_clock.pass_time(minutes=1)
    plan.plan_due(schedule_clock.now)
    for _ in range(3):
        with pytest.raises(Killed):
            fire.fire_pending(schedule_clock.now, die)
        schedule_clock.pass_time(seconds=61)
    fire.fire_pending(schedule_clock.now)
    assert outcomes(schedule) == [("refused", "FIRING_ABANDONED")]


def test_events_and_audit_entries_record_what_happened(make_schedule, hello, schedule_clock, alice):
    from registry.models import AuditEntry, Event

    schedule = make_schedule(hello, cron="0 * * * *")
    schedule_clock.fire(hours=5, minutes=20)
    change.pause(schedule, Actor(user=alice), "Holidays.")
    change.delete(change.resume(schedule, Actor(user=alice)), Actor(user=alice))
    types = Event.objects.order_by("pk").values_list("type", flat=True)
    assert list(types) == [f"skillquay.schedule.{what}" for what in ("created", "missed", "paused")]
    actions = AuditEntry.objects.filter(target=schedule.uid).order_by("pk").values_list("action", flat=True)
    assert list(actions) == [f"schedule.{what}" for what in ("create", "pause", "resume", "delete")]


def test_person_is_exported_and_erased_with_their_schedules(make_schedule, hello, bob):
    from registry.erasure import hooks

    make_schedule(hello, {"who": "Bob"}, by=Actor(user=bob))
    exported = list(hooks.export_person(bob)["schedules"])
    assert [row["request"]["inputs"] for row in exported] == [{"who": "Bob"}]
    hooks.erase_person(bob)
    assert not Schedule.objects.exists()
