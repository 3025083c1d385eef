"""Marks log lines with the request or run, and the team, that they belong to; formats lines as JSON."""

from __future__ import annotations

import logging
import time
from contextvars import ContextVar, Token
from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

_current: ContextVar[tuple[str, str, str]] = ContextVar("log_context", default=("", "", ""))


class bind:  # a function with ``contextmanager`` would take twice as long, at every request
    """Marks the log lines of a ``with`` block with ``kind=uid`` and the team, in the current thread or task
    only.
    """

    __slots__ = ("context", "token")

    def __init__(self, kind: str, uid: str, *, team: str = "") -> None:
        self.context = kind, uid, team

    def __enter__(self) -> None:
        self.token: Token[tuple[str, str, str]] = _current.set(self.context)

    def __exit__(self, *error: object) -> None:
        _current.reset(self.token)


def current_id(kind: str) -> str:
    """The id that ``bind`` set for this kind ("request" or "run"); "" if none is set."""
    bound, uid, _team = _current.get()
    return uid if bound == kind else ""


class ContextFilter(logging.Filter):
    """Adds ``context`` to log records: ``request=…``, ``run=… team=…`` or ``-``."""

    def filter(self, record: logging.LogRecord) -> bool:
        ids = _ids(record)
        record.context = " ".join(f"{kind}={uid}" for kind, uid in ids.items()) or "-"
        return True


class LineFormatter(logging.Formatter):
    """Formats each message as one line, except for tracebacks. Some libraries write messages of several
    lines.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        return " ".join(super().formatMessage(record).split("\n")).strip()


class JsonLineFormatter(JsonFormatter):
    """Formats a record as one line of JSON: ``time``, ``level``, ``logger``, ``message``, the known ones of
    ``request_id``, ``run_id`` and ``team_id``, and the fields of ``extra``.
    """

    def __init__(self) -> None:
        super().__init__(
            "{asctime}{levelname}{name}{message}",
            style="{",
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            reserved_attrs=[*RESERVED_ATTRS, "context", "request"],
            json_ensure_ascii=False,
        )
        self.converter = time.gmtime
        self.default_time_format, self.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        super().add_fields(log_data, record, message_dict)
        for kind, uid in _ids(record).items():
            log_data[f"{kind}_id"] = uid


def _ids(record: logging.LogRecord) -> dict[str, str]:
    kind, uid, team = _current.get()
    if not uid:  # Django logs the status of a response after all middleware
        kind, uid = "request", getattr(getattr(record, "request", None), "request_id", "")
    return {name: value for name, value in ((kind, uid), ("team", team)) if value}
