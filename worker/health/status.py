"""The site's state as JSON documents, for ``manage.py status`` and ``/-/ready``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from worker.health.checks import HealthCheck, SiteState, read_state
from worker.health.release import version


def status_document() -> dict[str, Any]:
    """The document ``{ok, version, checks, queue, workers}``, for operators.

    If the database does not answer, the queue's figures are None and the list of workers is empty.
    """
    state = read_state()
    figures = state.figures
    oldest_s = figures.queue.oldest_s if figures else None
    return {
        "ok": state.ok,
        "version": version(),
        "checks": [_check_document(check, for_operator=True) for check in state.checks],
        "queue": {
            "runnable": figures.queue.runnable if figures else None,
            "oldest_s": None if oldest_s is None else round(oldest_s, 1),
        },
        "workers": [
            {
                "name": worker.name,
                "slots": worker.slots,
                "busy": worker.busy,
                "heartbeat_s": round(worker.heartbeat_s, 1),
            }
            for worker in (figures.workers if figures else ())
        ],
    }


def ready_document(state: SiteState, names: Collection[str] = ()) -> dict[str, Any]:
    """The document ``{ok, checks}`` of the named checks, or of all checks if no names are given.

    Everyone can read this document, so it names no host and no address.
    """
    chosen = [check for check in state.checks if not names or check.name in names]
    checks = [_check_document(check, for_operator=False) for check in chosen]
    return {"ok": all(check.ok for check in chosen), "checks": checks}


def _check_document(check: HealthCheck, *, for_operator: bool) -> dict[str, Any]:
    detail = f"{check.detail}: {check.cause}" if for_operator and check.cause else str(check.detail)
    return {"name": check.name, "ok": check.ok, "detail": detail}
