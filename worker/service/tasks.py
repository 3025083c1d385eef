"""The worker's Celery tasks. Each claims and executes one kind of waiting work."""

from __future__ import annotations

import gc
import logging
import time
from typing import Any

from celery.bootsteps import StartStopStep
from celery.signals import worker_init, worker_ready, worker_shutdown
from celery.worker import state
from django.db import DatabaseError, connection

from registry.identity import site_key
from worker.attempts.storage_gate import wait_until_open
from worker.celery import app
from worker.command_lines import ask_parsers
from worker.core import shutdown
from worker.core.host import worker_name
from worker.dependencies import build
from worker.executors.conductor import execute, probe
from worker.module_loads import load_modules
from worker.queue.claims import claim_next
from worker.queue.dispatch import (
    WAKE,
    WAKE_BUILDER,
    WAKE_DOCTOR,
    WAKE_IMPORTER,
    WAKE_PARSER_READER,
    wake,
)
from worker.service import examinations
from worker.service.heartbeat import HeartbeatThread
from worker.service.import_jobs import MAX_TASK_S, import_waiting

log = logging.getLogger(__name__)
_DATABASE_POLL_S = 2.0
BURST_S = 2.0  # after this time, the child returns to Celery, which may end or replace it
_STORAGE_HOLD_S = 20.0  # shorter than the time that a worker has to stop


@worker_init.connect
def _probe_sandbox(**kwargs: object) -> None:
    """Probes the tiers once before the children are forked, so that they inherit the result."""
    probe()


@worker_init.connect
def _check_key(**kwargs: object) -> None:
    """Ends the worker if its key is not the site's; waits for a database that can't be reached."""
    while True:
        try:
            if not site_key.is_accepted():
                raise SystemExit(site_key.MISMATCH)
            return
        except DatabaseError as error:
            log.warning("The worker waits for the database: %s", error)
            time.sleep(_DATABASE_POLL_S)
        finally:
            connection.close()


@worker_init.connect
def _freeze_memory(**kwargs: object) -> None:
    """Exempts all objects from garbage collection, which Celery runs before each fork of a child."""
    gc.freeze()


class WakeSlots(StartStopStep):
    """Wakes each slot when the worker has connected to the broker, which may have lost wake-ups."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        for _ in range(parent.pool.num_processes):
            wake()


app.steps["consumer"].add(WakeSlots)


@worker_ready.connect
def _start_heartbeat(sender: Any, **kwargs: object) -> None:
    thread = HeartbeatThread(
        sender.pool.num_processes,
        lambda: len(state.active_requests),
        is_reconnecting=lambda: sender.connection is None,
    )
    sender.hub.call_repeatedly(1.0, thread.turn)
    worker_shutdown.connect(lambda **_: thread.stop(), weak=False)
    thread.start()


@app.task(name=WAKE)
def on_wake() -> None:
    """Executes runs until none is left, the time ``BURST_S`` is over or the worker stops.

    Publishes another wake-up if runs may be left. While this process can't reach the storage, it claims
    nothing and keeps its slot busy. The wake-ups then stay in the broker for other workers.
    """
    until = time.monotonic() + BURST_S
    name = worker_name()
    with shutdown.defer_sigterm() as is_stopping:
        while wait_until_open(is_stopping, seconds=_STORAGE_HOLD_S):
            claim = claim_next(name)
            if claim is None:
                return
            execute(claim)
            if is_stopping() or time.monotonic() > until:
                break
        wake()


@app.task(name=WAKE_IMPORTER, time_limit=MAX_TASK_S)
def on_wake_importer() -> None:
    """Runs waiting imports, and continues imports of killed workers."""
    with shutdown.defer_sigterm() as is_stopping:
        if wait_until_open(is_stopping, seconds=_STORAGE_HOLD_S):
            import_waiting(is_stopping)


@app.task(name=WAKE_BUILDER, time_limit=build.MAX_TASK_S)
def on_wake_builder() -> None:
    """Runs waiting dependency builds, and restarts builds of killed workers."""
    with shutdown.defer_sigterm() as is_stopping:
        if wait_until_open(is_stopping, seconds=_STORAGE_HOLD_S):
            build.build_waiting(is_stopping)


@app.task(name=WAKE_DOCTOR, time_limit=examinations.MAX_TASK_S)
def on_wake_doctor() -> None:
    """Runs the oldest waiting sandbox examination, if there is one."""
    examinations.examine_next(worker_name())


@app.task(name=WAKE_PARSER_READER, time_limit=ask_parsers.MAX_TASK_S)
def on_wake_parser_reader() -> None:
    """Reads the command lines of newly published scripts from their parsers, and loads modules."""
    with shutdown.defer_sigterm() as is_stopping:
        if wait_until_open(is_stopping, seconds=_STORAGE_HOLD_S):
            ask_parsers.ask_waiting(is_stopping)
            load_modules.load_waiting(is_stopping)
