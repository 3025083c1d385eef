"""A lease that is kept while its work goes on, however long one step of it takes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, close_old_connections, connection


@contextmanager
def kept(renew: Callable[[], object], *, every_s: float) -> Iterator[None]:
    """Renews it from a thread of its own; a busy database is asked again the next time."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(every_s):
            try:
                renew()
            except DatabaseError:
                close_old_connections()  # one that was cut would fail for ever
        connection.close()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
