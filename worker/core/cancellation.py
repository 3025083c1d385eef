"""Runs slow work of an attempt in a thread, so that cancellation can be polled."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from worker.core.errors import CANCELLED
from worker.sandbox.policy import CheckStop

T = TypeVar("T")
CheckCancelled = Callable[[], None]
_POLL_S = 0.1
_GRACE_S = 0.2


def run_cancellable(work: Callable[[CheckCancelled], T], check_stop: CheckStop) -> T:
    """Runs ``work`` in a thread and returns its result or raises its exception.

    Raises CANCELLED as soon as ``check_stop`` reports a reason. ``work`` receives a function that raises
    CANCELLED after the stop, and must call it between pieces of work. If a piece blocks (slow storage, a
    lock), the thread is abandoned. ``work`` must not use the database.
    """
    cancelled = threading.Event()
    result: Future[T] = Future()
    in_context = copy_context().run  # so that log lines of the thread also name the run
    thread = threading.Thread(
        target=in_context, args=(_run, work, cancelled, result), daemon=True, name="cancellable"
    )
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_S)
        if thread.is_alive() and check_stop():
            cancelled.set()
            thread.join(_GRACE_S)
            raise CANCELLED.refusal()
    return result.result()


def _run(work: Callable[[CheckCancelled], T], cancelled: threading.Event, result: Future[T]) -> None:
    def check_cancelled() -> None:
        if cancelled.is_set():
            raise CANCELLED.refusal()

    try:
        result.set_result(work(check_cancelled))
    except BaseException as error:  # raised again in the waiting thread
        result.set_exception(error)
