"""Marks log lines with the request or run that they belong to, as ``request=…`` or ``run=…``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[tuple[str, str]] = ContextVar("log_context", default=("", ""))


@contextmanager
def bind(kind: str, uid: str) -> Iterator[None]:
    """Marks the log lines of a ``with`` block with ``kind=uid``, in the current thread or task only."""
    token = _current.set((kind, uid))
    try:
        yield
    finally:
        _current.reset(token)


def current_id(kind: str) -> str:
    """The id that ``bind`` set for this kind ("request" or "run"); "" if none is set."""
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
