"""The context of a run's page and of its live parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from portal.pages.runs.forms.argument_line import argument_line
from portal.pages.runs.presenters.annotations import annotation_context
from portal.pages.runs.presenters.artifacts import artifact_rows
from portal.pages.runs.presenters.comparison import comparison_targets
from portal.pages.runs.presenters.failure import Failure, failure_of
from portal.pages.runs.presenters.log import LogLines
from portal.pages.runs.presenters.memories import write_rows
from portal.pages.runs.presenters.timeline import (
    omitted_steps,
    on_own_scale,
    ran_ms,
    time_axis,
    timeline,
    waited_ms,
)
from portal.presenters.approvals import approval_of_run
from portal.presenters.enforcement import enforcement_rows
from portal.presenters.explanations import (
    Explanation,
    explain,
    failure_text,
    is_standard_message,
    only_names_exit,
)
from portal.presenters.results import display_value, output_of
from portal.templatetags.skillquay import first_rows
from registry.core.sql import Reads, gather, reader, reads_of
from registry.identity.actors import Actor
from registry.models import Skill, Version
from registry.models.skill import INTERNAL
from worker.core.display_budget import MAX_TEXT
from worker.dependencies.waits import waits_of
from worker.failures.groups import group_of_run
from worker.models import Run, RunStatus
from worker.queue.states import ENDED
from worker.quotas.team_limits import blocking_limit
from worker.run_views.documents import host_accesses
from worker.run_views.statistics import usual_duration
from worker.runs.cancel import cancelled_by
from worker.sharing.links import may_share

_ACTIVE = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING_APPROVAL)
_LOGGED = ("SCRIPT_FAILED", "COMMAND_FAILED", "INTERNAL_ERROR")  # their remedy is to check the log
_MARKS = {RunStatus.SUCCEEDED: "✓", RunStatus.CANCELLED: "–"} | dict.fromkeys(_ACTIVE, "●")


@dataclass(frozen=True)
class RunAccess:
    """A visible run with the permissions of the actor.

    The flags say whether the actor may read its content (``readable``), started it (``own``), or may cancel
    and erase it (``controlled``).
    """

    run: Run
    readable: bool
    own: bool
    controlled: bool

    @property
    def ended(self) -> bool:
        return self.run.status in ENDED

    @property
    def cancellable(self) -> bool:
        return self.controlled and not self.ended


@reader
def run_context(
    access: RunAccess, actor: Actor, *, attempt: int, log: LogLines | None = None
) -> Reads[dict[str, Any]]:
    """The context of ``runs/run.html`` and ``runs/live.html``; content only for readers of the run.

    ``log`` is the end of the attempt's log, if the caller has read it.
    """
    if not access.readable:
        ran, header = yield from gather(_version_of(access.run, actor), _header(access, actor))
        context: dict[str, Any] = {**header, "version": ran, **_outcome(access, actor)}
        return context | {"remedy": _remedy(context.get("why"), None)}
    explained = _explained(access.run, actor, attempt=attempt, log=log)
    header, (version, failure), content = yield from gather(
        _header(access, actor), explained, _content(access, actor)
    )
    context = {**header, "version": version, "failure": failure, **_outcome(access, actor)}
    return {**context, "remedy": _remedy(context.get("why"), failure), **content}


def _explained(
    run: Run, actor: Actor, *, attempt: int, log: LogLines | None
) -> Reads[tuple[Version | None, Failure | None]]:
    """The version that ran, and the explanation of the failure."""
    version = yield from _version_of(run, actor)
    return version, (yield from failure_of.reads(run, actor, version, attempt=attempt, log=log))


@reader
def title_context(access: RunAccess, actor: Actor) -> Reads[dict[str, Any]]:
    """The context of a run's title and breadcrumb."""
    run = access.run
    yield (seen := Skill.objects.visible_to(actor).filter(pk=run.skill_id or 0).values("pk"))
    is_seen = run.skill and bool(seen)
    return {
        "access": access,
        "run": run,
        "mark": _MARKS.get(RunStatus(run.status), "✗"),
        "skill_name": run.skill.name if run.skill and is_seen else run.skill_label,
        "skill_seen": is_seen,
    }


def _header(access: RunAccess, actor: Actor) -> Reads[dict[str, Any]]:
    """The part of the context that every visitor of the page gets."""
    run, now = access.run, timezone.now()
    title, newest, approval, waits, rerun_of, parent, earlier, group, usual_ms = yield from gather(
        title_context.reads(access, actor),
        _newer_number(run, actor),
        approval_of_run.reads(run, actor),
        waits_of.reads([run]),
        _visible_related(run.rerun_of_id, actor),
        _visible_related(run.parent_id, actor),
        _cached_source(run, actor),
        group_of_run.reads(run),
        _usual_duration(run, actor),
    )
    return {
        **title,
        "pressable": run.skill is not None and run.skill.type != INTERNAL,
        "newest_number": newest,
        "approval": approval,
        "waits": waits.get(run.pk, ()),
        "most_at_once": blocking_limit(run),
        "waited_ms": waited_ms(run, now),
        "ran_ms": ran_ms(run, now),
        "limit_ms": run.limits.get("timeout_s", 0) * 1000 if run.status == RunStatus.TIMED_OUT else 0,
        "usual_ms": usual_ms,
        "enforcement": enforcement_rows(run.sandbox),
        "rerun_of": rerun_of,
        "parent": parent,
        "earlier": earlier,
        "error_group": group,
    }


def _usual_duration(run: Run, actor: Actor) -> Reads[float | None]:
    """The usual duration of the version, for a running run."""
    if run.status != RunStatus.RUNNING:
        return None
    return (yield from usual_duration.reads(run, actor))


def _outcome(access: RunAccess, actor: Actor) -> dict[str, Any]:
    """The result and the explanation of the failure code; only the latter if the actor may not read the
    run.
    """
    run = access.run
    result = (run.result or {}) if access.readable else {}
    failed = run.status != RunStatus.SUCCEEDED and access.ended
    why = _why(access, result) if failed and run.failure_code else None
    return (_texts(access, why) if why else {}) | {
        "error_details": _details(result),
        "result": result,
        "prompt_messages": _messages(result),
        "output": display_value(output_of(result), format=str(result.get("format") or "")),
        "metadata": _metadata(result),
        "memory_writes": write_rows(run, result.get("memory_writes"), actor=actor),
    }


def _texts(access: RunAccess, why: Explanation) -> dict[str, Any]:
    run = access.run
    message = _own_message(run) if access.readable else ""
    headline = (failure_text(run) if access.readable else "") or message or why.meaning
    rest = message or (why.meaning if why.known and not _is_thrown(run) else "")
    return {"why": why, "headline": headline, "explanation": "" if rest in headline else rest}


def _is_thrown(run: Run) -> bool:
    """Whether the cause is an error of the script, which is more specific than the text of the failure
    code.
    """
    return bool(run.cause) and run.cause["type"] != run.failure_code


def _remedy(why: Explanation | None, failure: Failure | None) -> str:
    """The remedy of the failure code. Omits "Check the log" if the page already shows the error in the
    log.
    """
    if why is None or not why.known:
        return ""
    if why.code not in _LOGGED:
        return why.remedy
    if failure is None or failure.error_lines:
        return ""
    if failure.lines:
        return why.remedy
    return gettext(
        "The log is empty. Ask the skill's maintainers to make the script write its errors to standard error."
    )


def _content(access: RunAccess, actor: Actor) -> Reads[dict[str, Any]]:
    """The part of the context that only readers of the run get."""
    run = access.run
    artifacts, children = run.artifacts.order_by("path"), _children(run, actor)
    rows, annotations, omitted, dials, targets, canceller, _others = yield from gather(
        timeline.reads(run),
        annotation_context.reads(run, actor),
        omitted_steps.reads(run),
        host_accesses.reads(run),
        comparison_targets.reads(run, actor),
        cancelled_by.reads(run),
        reads_of(artifacts, children),
    )
    own = on_own_scale([row for row in rows if row.kind == "skill"])
    return {
        **annotations,
        "may_share": may_share(run, actor),
        "own_steps": own,
        "own_axis": time_axis(own),
        "axis": time_axis(rows),
        "platform_steps": [row for row in rows if row.kind != "skill"],
        "omitted_steps": omitted,
        "dials": dials,
        "cancelled_by": canceller,
        "artifacts": artifact_rows(artifacts),
        "inputs": display_value(run.request.get("inputs") or {}),
        "arguments": display_value(_argument_text(run)),
        "children": children,
        "comparison_targets": targets if access.ended else (),
    }


def _argument_text(run: Run) -> str:
    names = {str(use["named"]): use["path"].rpartition("/")[2] for use in run.files}
    return argument_line([names.get(str(each), each) for each in run.request.get("arguments") or []])


def _version_of(run: Run, actor: Actor) -> Reads[Version | None]:
    """The version that ran; None if it was removed or the actor may not see it."""
    versions = Version.objects.visible_to(actor).filter(skill=run.skill_id, digest=run.digest)
    rows = versions.filter(number=run.version_number).select_related("skill__team")
    yield rows
    return next(iter(rows), None)


def _newer_number(run: Run, actor: Actor) -> Reads[str]:
    """The number of the skill's latest version; "" if the run used it or the actor can't see it."""
    if run.skill is None or run.skill.latest_id is None:
        return ""
    latest = Version.objects.visible_to(actor).filter(pk=run.skill.latest_id)
    yield (numbers := latest.exclude(number=run.version_number).values_list("number", flat=True))
    return next(iter(numbers), "")


def _why(access: RunAccess, result: dict[str, Any]) -> Explanation:
    details = _error(result)
    match details:
        case {"remedy": str(remedy)} | {"problems": [{"remedy": str(remedy)}, *_]}:
            pass
        case _:
            remedy = ""
    message = access.run.message if access.readable else ""
    return explain(access.run.failure_code, details, message=message, remedy=remedy)


def _own_message(run: Run) -> str:
    """The run's message; "" if it only repeats the text of the failure code or the exit code."""
    is_known = is_standard_message(run.failure_code, run.message) or only_names_exit(run.message)
    return "" if is_known else run.message


def _visible_related(key: int | None, actor: Actor) -> Reads[Run | None]:
    if key is None:
        return None
    yield (runs := Run.objects.visible_to(actor).without_content().filter(pk=key))
    return next(iter(runs), None)


def _cached_source(run: Run, actor: Actor) -> Reads[Run | None]:
    """The run whose cached result ``run`` returned; None if there is none or the actor may not read it."""
    if run.cached_from_id is None:
        return None
    yield (runs := Run.objects.readable_by(actor).without_content().filter(pk=run.cached_from_id))
    return next(iter(runs), None)


def _children(run: Run, actor: Actor) -> QuerySet[Run]:
    return Run.objects.visible_to(actor).filter(parent=run).without_content().order_by("pk")


def _error(result: dict[str, Any]) -> dict[str, Any]:
    error = result.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    return details if isinstance(details, dict) else {}


def _details(result: dict[str, Any]) -> Any:
    error = result.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    if isinstance(details, dict) and details.keys() <= {"name", "stack"} and details.get("stack"):
        details = details["stack"]  # an exception's stack: several lines that include its name
    return display_value(details) if details else None


def _messages(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The first messages of a prompt; their texts are cut at ``MAX_TEXT`` characters in all."""
    shown, left = [], MAX_TEXT
    for message in first_rows(result.get("messages") or ()):
        assert isinstance(message, dict)
        text = str(message.get("content") or "")[:left]
        left -= len(text)
        shown.append({"role": message.get("role"), "content": text})
    return shown


def _metadata(result: dict[str, Any]) -> list[tuple[str, str]]:
    metadata = result.get("metadata")
    if not isinstance(metadata, dict):
        return []
    return [
        (str(_METADATA.get(str(key), key)), str(value))
        for key, value in metadata.items()
        # Omitted, because the run has its own status.
        if isinstance(value, str | int | float) and key != "status"
    ][:20]


_METADATA = {"execution_time_ms": gettext_lazy("Execution time in ms"), "items_count": gettext_lazy("Items")}
