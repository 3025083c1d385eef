"""The request or run that log lines belong to: ``request=…`` or ``run=…`` on every line."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[tuple[str, str]] = ContextVar("log_context", default=("", ""))


@contextmanager
def bind(kind: str, uid: str) -> Iterator[None]:
    """Context manager: marks log lines of its block, in this thread or task, with ``kind=uid``."""
    token = _current.set((kind, uid))
    try:
        yield
    finally:
        _current.reset(token)


def current_id(kind: str) -> str:
    """The id that is bound for this kind; "" if none is."""
    bound, uid = _current.get()
    return uid if bound == kind else ""


class ContextFilter(logging.Filter):
    """Adds ``context`` to log records: ``request=…``, ``run=…`` or ``-``."""

    def filter(self, record: logging.LogRecord) -> bool:
        kind, uid = _current.get()
        if not uid:  # Django logs the status of a response after all middleware
            kind, uid = "request", getattr(getattr(record, "request", None), "request_id", "")
        record.context = f"{kind}={uid}" if uid else "-"
        return True
