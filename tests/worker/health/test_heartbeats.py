"""Heartbeats: which worker and reaper processes are alive, and what they do."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from worker.core.host import host_name, worker_name
from worker.health import heartbeats
from worker.models import ProcessKind, ServiceProcess
from worker.service.heartbeat import HeartbeatThread

pytestmark = pytest.mark.row("P9")


@pytest.fixture
def make_silent():
    """``make_silent(name, seconds)``: lets the last heartbeat be that long ago."""

    def make(name, seconds):
        ServiceProcess.objects.filter(name=name).update(seen_at=timezone.now() - timedelta(seconds=seconds))

    return make


@pytest.mark.django_db
def test_later_heartbeats_update_the_same_row(make_silent):
    heartbeats.beat(ProcessKind.WORKER, "host:1", slots=2, details={"tier": "bwrap"})
    make_silent("host:1", 20)
    started_at = ServiceProcess.objects.get().started_at
    heartbeats.beat(ProcessKind.WORKER, "host:1", slots=2, busy=1, details={"tier": "nsrun"})
    [process] = heartbeats.processes()
    assert (process.slots, process.busy, process.details) == (2, 1, {"tier": "nsrun"})
    assert process.started_at == started_at
    assert process.heartbeat_s < 20


@pytest.mark.django_db
def test_silent_process_is_dead_and_forgotten_later(make_silent):
    for name, age in (("host:1", 0), ("host:2", 60), ("host:3", 3600)):
        heartbeats.beat(ProcessKind.WORKER, name, slots=2)
        make_silent(name, age)
    heartbeats.forget_silent()
    assert [(p.name, p.is_alive) for p in heartbeats.processes()] == [("host:1", True), ("host:2", False)]


@pytest.mark.django_db
def test_killed_process_of_this_machine_is_dead_at_once_and_removed_by_its_successor(monkeypatch):
    process = subprocess.Popen(["sleep", "60"])
    killed, elsewhere = f"{host_name()}:{process.pid}", f"another:{process.pid}"
    for name in (worker_name(), killed, elsewhere):
        heartbeats.beat(ProcessKind.WORKER, name, slots=2)
    assert all(each.is_alive for each in heartbeats.processes())
    process.kill()
    process.wait()
    dead = [each.name for each in heartbeats.processes() if not each.is_alive]
    assert dead == [killed], "whether a process of another machine has ended is unknown"
    with monkeypatch.context() as patched:
        patched.setattr(heartbeats, "_machine", lambda: "another PID namespace")
        assert all(each.is_alive for each in heartbeats.processes())
    heartbeats.forget_ended()
    assert {each.name for each in heartbeats.processes()} == {worker_name(), elsewhere}


def _wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
def test_worker_reports_itself_while_its_event_loop_turns(monkeypatch):
    monkeypatch.setattr(heartbeats, "EVERY_S", 0.01)
    thread = HeartbeatThread(3, lambda: 2)
    thread.start()
    try:
        _wait_for(ServiceProcess.objects.exists)
        [process] = heartbeats.processes()
        assert (process.kind, process.slots, process.busy) == ("worker", 3, 2)
        assert {"tier", "enforcement", "disk_free", "disk_total"} <= set(process.details)
        thread.loop_turned -= 3600  # it hangs
        time.sleep(0.1)  # a write that had begun ends
        ServiceProcess.objects.all().delete()
        time.sleep(0.1)
        assert not ServiceProcess.objects.exists()
        thread.turn()
        _wait_for(ServiceProcess.objects.exists)
    finally:
        thread.stop()
    assert not ServiceProcess.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_worker_reports_itself_while_it_reconnects_to_the_broker(monkeypatch):
    monkeypatch.setattr(heartbeats, "EVERY_S", 0.01)
    reconnecting = [True]
    thread = HeartbeatThread(3, lambda: 0, is_reconnecting=lambda: reconnecting[0])
    thread.loop_turned -= 3600
    thread.start()
    try:
        _wait_for(ServiceProcess.objects.exists)
        reconnecting[0] = False
        thread.loop_turned -= 3600  # now it hangs
        time.sleep(0.1)
        ServiceProcess.objects.all().delete()
        time.sleep(0.1)
        assert not ServiceProcess.objects.exists()
    finally:
        thread.stop()


@pytest.mark.django_db(transaction=True)
def test_no_process_is_forked_during_a_write(monkeypatch):
    """A child that is forked during a write inherits locked locks of a thread that it does not have."""
    monkeypatch.setattr(heartbeats, "EVERY_S", 0.001)
    writes = []

    def write(*_, **__):
        writes.append("begin")
        time.sleep(0.02)
        writes.append("end")

    monkeypatch.setattr(heartbeats, "beat", write)
    thread = HeartbeatThread(1, lambda: 0)
    thread.start()
    try:
        for _ in range(5):
            _wait_for(lambda: writes and writes[-1] == "begin")
            if pid := os.fork():
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            else:
                os._exit(writes[-1] != "end" or thread.writing.locked())
    finally:
        thread.stop()
