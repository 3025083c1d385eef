"""Slow work of an attempt, done beside the thread that hears whether anybody still wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from registry.packages.problems import refuse
from worker.sandbox.policy import Tick

Found = TypeVar("Found")
GoOn = Callable[[], None]
_LOOK_S = 0.1
_FAREWELL_S = 0.2


def heard(work: Callable[[GoOn], Found], tick: Tick) -> Found:
    """What the work comes to, while the run's word is heard and its lease kept; CANCELLED when it is to stop.

    The work touches no database. What it calls between two pieces raises once nobody waits for it; in the
    middle of one (a slow storage, another's lock) it is left to itself.
    """
    unwanted = threading.Event()
    found: Future[Found] = Future()
    thread = threading.Thread(target=_do, args=(work, unwanted, found), daemon=True, name="heard")
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
        if thread.is_alive() and tick():
            unwanted.set()
            thread.join(_FAREWELL_S)
            raise refuse("CANCELLED")
    return found.result()


def _do(work: Callable[[GoOn], Found], unwanted: threading.Event, found: Future[Found]) -> None:
    def go_on() -> None:
        if unwanted.is_set():
            raise refuse("CANCELLED")

    try:
        found.set_result(work(go_on))
    except BaseException as error:  # the one who waits gets it
        found.set_exception(error)
