"""The worker's tasks: wake-ups, on which runs or imports are claimed and done until none is left."""

from __future__ import annotations

import os
import socket
import time

from worker import examining, stopping
from worker.celery import app
from worker.dependencies import making
from worker.dispatch import WAKE, WAKE_DOCTOR, WAKE_IMPORTER, WAKE_PREPARER, wake
from worker.execution import execute
from worker.imports import LONGEST_S, import_waiting
from worker.states import claim_next

BURST_S = 2.0  # after which the child goes back to Celery, which may end or renew it


@app.task(name=WAKE)
def on_wake() -> None:
    """Claims and executes until no run is left or the burst is over; then the next wake-up goes on."""
    until = time.monotonic() + BURST_S
    name = worker_name()
    with stopping.deferred() as is_stopping:
        while claim := claim_next(name):
            execute(claim)
            if is_stopping() or time.monotonic() > until:
                wake()
                return


@app.task(name=WAKE_IMPORTER, time_limit=LONGEST_S)
def on_wake_importer() -> None:
    """Imports what waits; what a killed worker left is taken up again where it was."""
    with stopping.deferred() as is_stopping:
        import_waiting(is_stopping)


@app.task(name=WAKE_PREPARER, time_limit=making.LONGEST_S)
def on_wake_preparer() -> None:
    """Makes the dependencies that wait; what a killed worker left is made again."""
    with stopping.deferred() as is_stopping:
        making.make_waiting(is_stopping)


@app.task(name=WAKE_DOCTOR, time_limit=examining.LONGEST_S)
def on_wake_doctor() -> None:
    """Attacks this worker's own tiers, where somebody asked for it."""
    examining.examine_waiting(worker_name())


def worker_name() -> str:
    return f"{host_name()}:{os.getpid()}"


def host_name() -> str:
    return socket.gethostname()[:100]
