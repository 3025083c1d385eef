"""The context of a shared page, without names of people, teams or tokens, and without links into the site."""

from __future__ import annotations

from typing import Any

from portal.pages.runs.presenters import log as run_log
from portal.pages.runs.presenters.timeline import ran_ms
from portal.presenters.explanations import failure_text
from portal.presenters.results import display_value, output_of
from worker.models import RunStatus, ShareLink

_LOG_LINES = 300


def shared_context(link: ShareLink) -> dict[str, Any]:
    run = link.run
    result = run.result or {}
    failed = run.status != RunStatus.SUCCEEDED
    context: dict[str, Any] = {
        "run": run,
        "link": link,
        "ran_ms": ran_ms(run, link.created_at),
        "headline": (failure_text(run) or run.message) if failed else "",
        "message": "" if failed else run.message,
        "output": display_value(output_of(result), format=str(result.get("format") or "")),
        "warnings": result.get("warnings") or (),
        "artifacts": run.artifacts.order_by("path") if link.with_artifacts else (),
    }
    if link.with_inputs:
        context["inputs"] = display_value(run.request.get("inputs") or {})
        context["arguments"] = display_value(run.request.get("arguments") or None)
    if link.with_log:
        context["log"] = run_log.tail(run, max(run.attempt, 1), running=False)
    return context
