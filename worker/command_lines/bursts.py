"""Runs short bursts of work on published versions, in one process per machine at a time."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from worker.core.sandbox_settings import jobs_folder

Row = TypeVar("Row")
Result = TypeVar("Result")
BURST_S = 10.0


def run_burst(
    claim_next: Callable[[], Row | None], work: Callable[[Row], Result], is_stopping: Callable[[], bool]
) -> list[Result]:
    """Calls ``work`` with claimed rows for at most ``BURST_S``; returns the results.

    Only one process per machine runs a burst at a time, so that the others stay free for runs.
    """
    until, results = time.monotonic() + BURST_S, list[Result]()
    with machine_lock() as is_alone:
        while is_alone and not is_stopping() and time.monotonic() < until:
            row = claim_next()
            if row is None:
                break
            results.append(work(row))
    return results


@contextmanager
def machine_lock() -> Iterator[bool]:
    """Tries to take the lock that one process per machine can hold, and yields whether it succeeded."""
    jobs_folder().mkdir(parents=True, exist_ok=True)
    with open(jobs_folder() / ".parsers.lock", "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
