"""What watchers of a run are told, whenever they come and wherever they were cut off; what is mended."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.checks import not_none
from worker.attempts import recording
from worker.attempts.recording import LogBuffer
from worker.core import clock
from worker.models import Run, RunStatus
from worker.protocols.call import StepTrace
from worker.queue import claims, dispatch, transport
from worker.run_views.events import events_since, position_of, read_heads
from worker.service.inline import execute_here
from worker.service.reaper import ReapResult, reap_once, sweep_job_folders

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5", "P9", "B6")]


def _after(uid, position=""):
    told = events_since(uid, position)
    return told.events, told.position, told.ended


def _kinds(events):
    return [event["event"] for event in events]


def test_a_run_that_has_ended_is_told_from_the_beginning(queued):
    run = execute_here(queued)
    events, _, ended = _after(run.uid)
    assert ended
    assert _kinds(events)[-1] == "status"
    assert "".join(e["data"]["text"] for e in events if e["event"] == "log").startswith("50% complete")
    assert next(e["data"]["name"] for e in events if e["event"] == "step") == "unpack"
    assert {"percent": 50} in [event["data"] for event in events if event["event"] == "progress"]
    assert read_heads([run.uid])[run.uid].ended


def test_who_comes_back_gets_what_is_new_alone(queued):
    claim = not_none(claims.claim_next("w"))
    buffer = LogBuffer()
    _, position, _ = _after(queued.uid)
    assert _after(queued.uid, position) == ([], position, False)
    buffer.add("stdout", b"new\n")
    recording.write_live(claim, buffer.take(final=False), progress=None, size=4, steps=[])
    events, position, ended = _after(queued.uid, position)
    assert [event["data"]["text"] for event in events] == ["new\n"]
    assert not ended
    assert not read_heads([queued.uid])[queued.uid].ended
    assert _after(queued.uid, position)[0] == []


def test_who_has_seen_the_rows_is_told_what_came_after_them(queued):
    claim = not_none(claims.claim_next("w"))
    buffer = LogBuffer()
    buffer.add("stdout", b"old\n")
    steps = [{"name": "unpack", "status": "succeeded", "duration_ms": 1, "error": None}]
    own = [StepTrace("1", "first")]
    recording.write_live(claim, buffer.take(final=False), progress=7, size=4, steps=steps, skill_steps=own)
    queued.refresh_from_db()
    position = position_of(queued)
    assert _after(queued.uid, position) == ([], position, False)
    buffer.add("stdout", b"new\n")
    steps.append({**steps[0], "name": "execute"})
    own = [StepTrace("2", "second")]
    recording.write_live(
        claim,
        buffer.take(final=False),
        progress=7,
        size=8,
        steps=steps,
        skill_steps=own,
        first_seq=1,
    )
    told = [event["data"] for event in _after(queued.uid, position)[0]]
    assert [each.get("text") or each["name"] for each in told] == ["new\n", "execute", "second"]


def test_watching_costs_one_query_while_nothing_happens(queued, django_assert_num_queries):
    _, position, _ = _after(queued.uid)
    with django_assert_num_queries(1):
        _after(queued.uid, position)


@pytest.mark.parametrize("position", ["x", "1.2", "-1.0.a.b.0", "9999999999999999999.0...0", "١.0...0"])
def test_a_position_that_nobody_gave_is_the_beginning(queued, position):
    assert _kinds(_after(queued.uid, position)[0]) == ["status"]


def test_a_run_that_is_not_there_has_ended():
    assert _after("nothing") == ([], "", True)
    assert read_heads(["nothing"]) == {}


def test_who_is_cut_off_behind_any_event_is_told_the_rest_and_nothing_twice(queued):
    run = execute_here(queued)
    whole = _after(run.uid)[0]
    assert len({event["event"] for event in whole}) == 4
    for heard in range(len(whole)):
        rest, _, ended = _after(run.uid, whole[heard]["id"])
        assert [event["data"] for event in rest] == [event["data"] for event in whole[heard + 1 :]]
        assert ended


def test_a_long_log_is_told_in_parts_that_a_slow_reader_may_keep_waiting(queued, monkeypatch):
    monkeypatch.setattr("worker.run_views.events._MAX_LOG_BYTES", 8)
    run = execute_here(queued)
    parts, position = [], ""
    while True:
        told = events_since(run.uid, position)
        parts.append([event for event in told.events if event["event"] == "log"])
        position = told.position
        if not told.more:
            break
    whole = [event["data"]["text"] for part in parts for event in part]
    monkeypatch.undo()
    assert "".join(whole) == "".join(
        event["data"]["text"] for event in _after(run.uid)[0] if event["event"] == "log"
    )
    assert len(parts) > 1
    assert told.ended


# The reaper -----------------------------------------------------------------------------------------------
def _missed(count=10):
    Run.objects.update(dispatched_at=None)


@pytest.fixture
def unfetched(monkeypatch):
    """The wake-ups that no worker has fetched."""
    messages: list[str] = []
    monkeypatch.setattr("worker.queue.dispatch.task_sender.receivers", [messages.append])
    monkeypatch.setattr("worker.queue.dispatch.message_counter.receivers", [lambda: len(messages)])
    monkeypatch.setattr("worker.service.reaper.wake", dispatch.wake)
    return messages


@pytest.mark.row("P5", "P9")
def test_reaper_wakes_a_slot_per_claimable_run_and_wake_ups_never_pile_up(
    hello, queue_run, unfetched, settings
):
    settings.SKILLQUAY_WORKERS = 1
    hello.command_lines.update(asks_parser=False)  # its wake-up would count too
    for _ in range(5):
        queue_run(hello)
    assert reap_once().woken == 0, "their own wake-ups were sent within the last seconds"
    _missed()
    assert reap_once() == ReapResult(expired=0, woken=5)
    assert reap_once().woken == 0, "no worker has fetched those"
    del unfetched[:3]
    assert reap_once().woken == 3


@pytest.mark.row("P5")
def test_reaper_sends_no_wake_up_for_runs_over_their_teams_limit(hello, queue_run, unfetched, settings):
    settings.SKILLQUAY_TEAM_LIMITS = {**settings.SKILLQUAY_TEAM_LIMITS, "concurrent_runs": 1}
    queue_run(hello)
    queue_run(hello)
    claims.claim_next("host:1")
    _missed()
    assert reap_once().woken == 0


def test_wake_ups_that_no_worker_has_fetched_are_counted(tmp_path, monkeypatch):
    from worker.celery import app, count_messages

    for name, folder in transport.folders(tmp_path).items():
        monkeypatch.setitem(app.conf.broker_transport_options, name, folder)
    with app.connection_for_write() as connection:
        app.send_task(dispatch.WAKE, connection=connection, retry=False)
    assert count_messages() > 0


def test_the_reaper_takes_back_what_a_dead_worker_held(claimed):
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert reap_once().expired == 1
    assert reap_once().expired == 0
    claimed.refresh_from_db()
    assert claimed.status == RunStatus.LOST


def test_no_run_is_taken_back_while_its_worker_wakes_with_its_machine(hello, queue_run, monkeypatch):
    alive, dead = (queue_run(hello) for _ in range(2))
    assert claims.claim_next("host:1")
    assert claims.claim_next("host:1")
    asleep = timedelta(hours=1)
    monkeypatch.setattr("worker.service.reaper._clock_jumps", clock.ClockJumpDetector())
    assert reap_once().expired == 0
    monkeypatch.setattr("worker.core.clock.now", lambda now=clock.now: now() + asleep)
    assert reap_once().expired == 0, "time has jumped over both leases"
    Run.objects.filter(pk=alive.pk).update(lease_until=clock.now() + clock.lease())
    monkeypatch.setattr("worker.service.reaper._clock_jumps.unsure_until", 0.0)
    assert reap_once().expired == 1
    dead.refresh_from_db()
    assert dead.status == RunStatus.LOST


def test_a_wake_up_that_cannot_be_published_is_tried_again(queued, monkeypatch):
    _missed()
    monkeypatch.setattr("worker.service.reaper.wake", lambda: False)
    assert reap_once().woken == 0
    monkeypatch.setattr("worker.service.reaper.wake", lambda: True)
    assert reap_once().woken == 1


@pytest.mark.parametrize("moment", [0, 1 << 33], ids=["long ago", "times to come"])
def test_folders_of_dead_runs_are_swept_and_those_of_living_ones_kept(claimed, settings, moment):
    root = settings.SKILLQUAY_VAR / "jobs"
    for name in (f"{claimed.uid}-1", "01dead-1"):
        (root / name / "output").mkdir(parents=True)
        os.utime(root / name, (moment, moment))
    assert sweep_job_folders() == 1
    assert [path.name for path in root.iterdir()] == [f"{claimed.uid}-1"]


# The embedded broker --------------------------------------------------------------------------------------
@pytest.fixture
def broker(tmp_path):
    from kombu import Connection

    options = {**transport.folders(tmp_path), "store_processed": True, "polling_interval": 0.005}
    with Connection(f"{transport.ALIAS}://localhost", transport_options=options) as connection:
        yield connection


def test_messages_arrive_in_order_and_once(broker, tmp_path):
    queue = broker.SimpleQueue(tmp_path.name)
    for number in range(3):
        queue.put(number)
    assert [queue.get(timeout=1).payload for _ in range(3)] == [0, 1, 2]
    with pytest.raises(queue.Empty):
        queue.get(block=False)
    queue.close()


def test_a_message_under_way_is_not_seen(broker, tmp_path):
    (tmp_path / "broker" / "queue" / f".1_a.{tmp_path.name}.msg").write_text("")
    queue = broker.SimpleQueue(tmp_path.name)
    with pytest.raises(queue.Empty):
        queue.get(block=False)
    queue.close()


def test_messages_that_were_taken_are_swept(broker, tmp_path):
    queue = broker.SimpleQueue(tmp_path.name)
    queue.put("x")
    queue.get(timeout=1)
    queue.close()
    taken = list((tmp_path / "broker" / "taken").iterdir())
    assert len(taken) == 1
    assert transport.sweep(tmp_path) == 0
    os.utime(taken[0], (0, 0))
    assert transport.sweep(tmp_path) == 1


@pytest.mark.parametrize("left", [b"", b"\0" * 40, b'{"body": "'])
def test_a_message_that_lost_its_bytes_with_the_power_holds_up_no_other(broker, tmp_path, left):
    (tmp_path / "broker" / "queue" / f"1_a.{tmp_path.name}.msg").write_bytes(left)
    queue = broker.SimpleQueue(tmp_path.name)
    queue.put("whole")
    assert queue.get(timeout=1).payload == "whole"
    queue.close()
