"""The worker's Celery tasks: each claims and executes work until none is left."""

from __future__ import annotations

import time
from typing import Any

from celery.signals import worker_init, worker_ready, worker_shutdown
from celery.worker import state

from worker.celery import app
from worker.core import shutdown
from worker.core.host import worker_name
from worker.dependencies import build
from worker.executors.conductor import execute, probe
from worker.queue.claims import claim_next
from worker.queue.dispatch import WAKE, WAKE_BUILDER, WAKE_DOCTOR, WAKE_IMPORTER, wake
from worker.service import examinations
from worker.service.heartbeat import HeartbeatThread
from worker.service.import_jobs import MAX_TASK_S, import_waiting

BURST_S = 2.0  # then the child returns to Celery, which may end or replace it


@worker_init.connect
def _probe_sandbox(**kwargs: object) -> None:
    """Probes the tiers once, before the children fork: they inherit the result."""
    probe()


@worker_ready.connect
def _start_heartbeat(sender: Any, **kwargs: object) -> None:
    thread = HeartbeatThread(sender.pool.num_processes, lambda: len(state.active_requests))
    sender.hub.call_repeatedly(1.0, thread.turn)
    worker_shutdown.connect(lambda **_: thread.stop(), weak=False)
    thread.start()


@app.task(name=WAKE)
def on_wake() -> None:
    """Executes runs until none is left or the burst is over; then sends itself the next wake-up."""
    until = time.monotonic() + BURST_S
    name = worker_name()
    with shutdown.defer_sigterm() as is_stopping:
        while claim := claim_next(name):
            execute(claim)
            if is_stopping() or time.monotonic() > until:
                wake()
                return


@app.task(name=WAKE_IMPORTER, time_limit=MAX_TASK_S)
def on_wake_importer() -> None:
    """Runs waiting imports; continues those of killed workers."""
    with shutdown.defer_sigterm() as is_stopping:
        import_waiting(is_stopping)


@app.task(name=WAKE_BUILDER, time_limit=build.MAX_TASK_S)
def on_wake_builder() -> None:
    """Runs waiting dependency builds; restarts those of killed workers."""
    with shutdown.defer_sigterm() as is_stopping:
        build.build_waiting(is_stopping)


@app.task(name=WAKE_DOCTOR, time_limit=examinations.MAX_TASK_S)
def on_wake_doctor() -> None:
    """Runs the next requested sandbox examination."""
    examinations.examine_next(worker_name())
