"""Serializes a run for commands, API and pages."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from django.db.models import Q
from django.utils.translation import gettext

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.core.sql import Reads, reader
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.lookup.skills import notices
from registry.models import Version
from registry.packages.problems import CODES, Refusal, code_named
from worker.annotations.marks import labels_of
from worker.approvals import requests
from worker.attempts.recording import STREAM_BYTES, read_stream_ends
from worker.dependencies.waits import waits_of
from worker.memory.documents import writes_of
from worker.models import Attempt, Run, RunStatus, Step
from worker.quotas import team_limits
from worker.run_views.cause import cause_document


def run_document(
    run: Run, *, actor: Actor, stream_bytes: int = STREAM_BYTES, with_inputs: bool = True
) -> dict[str, Any]:
    """The run's document, without the keys of its content if the actor can't read the run.

    Includes the last ``stream_bytes`` of stdout and stderr. Unless ``with_inputs``, does not read the request
    from the database. Raises NOT_FOUND if the actor can't see the run.
    """
    known = Run.objects.visible_to(actor).filter(pk=run.pk)
    if not known.exists():
        raise NOT_FOUND.refusal(what="run", name=run.uid)
    readable = Run.objects.readable_by(actor).filter(pk=run.pk).exists()
    document = _status_fields(run, readable=readable)
    if readable:
        document |= _content_fields(run, actor, stream_bytes)
        document |= _request_fields(run) if with_inputs else {}
    return {key: document[key] for key in KEYS if key in document}


def _request_fields(run: Run) -> dict[str, Any]:
    return {"inputs": run.request.get("inputs") or {}, "arguments": run.request.get("arguments") or []}


KEYS = (
    *(
        "id",
        "number",
        "url",
        "skill",
        "version",
        "digest",
        "team",
        "caller",
        "protocol",
        "entry",
        "case",
        "request_id",
        "inputs",
        "arguments",
        "status",
        "failure_code",
        "success",
        "outputs",
        "output",
        "format",
        "answer",
        "metadata",
        "token_usage",
    ),
    *(
        "message",
        "error",
        "cause",
        "warnings",
        "stdout",
        "stderr",
        "steps",
        "artifacts",
        "memory_writes",
        "cached",
    ),
    *("messages", "context"),
    *("cached_from", "rerun_of", "parent", "children"),
    *("attempt", "progress", "created_at", "started_at", "finished_at", "duration_ms"),
    *("sandbox", "network", "permission", "approval", "waiting_for", "readable", "erased_at"),
    *("pinned_at", "labels"),
)
_LISTS = (
    *("arguments", "warnings", "steps", "artifacts", "memory_writes", "messages", "network"),
    *("waiting_for", "children", "labels"),
)


def _status_fields(run: Run, *, readable: bool) -> dict[str, Any]:
    return {
        "id": run.uid,
        "number": run.number or None,
        "url": absolute_url(f"/api/v1/runs/{run.uid}"),
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "protocol": run.protocol,
        "status": run.status,
        "failure_code": run.failure_code,
        "success": run.status == "succeeded",
        "cached": run.cached_from_id is not None,
        "attempt": run.attempt,
        "created_at": rfc3339(run.created_at),
        "started_at": rfc3339(run.started_at),
        "finished_at": rfc3339(run.finished_at),
        "duration_ms": run.duration_ms,
        "sandbox": run.sandbox or {"tier": "", "enforcement": {}},
        "readable": readable,
        "erased_at": rfc3339(run.erased_at),
    }


def _content_fields(run: Run, actor: Actor, stream_bytes: int) -> dict[str, Any]:
    result: Mapping[str, Any] = run.result or {}
    stdout, stderr = read_stream_ends(run, max_bytes=stream_bytes)
    return {
        "team": run.team.slug if run.team else None,
        "caller": run.caller.username if run.caller else None,
        "entry": run.entry,
        "case": run.case_name or None,
        "request_id": run.request_id,
        "outputs": result.get("outputs", {}),
        "output": result.get("output"),
        "format": result.get("format") or "",
        "answer": result.get("answer"),
        "metadata": result.get("metadata") or {},
        "token_usage": result.get("token_usage"),
        "message": run.message,
        "error": result.get("error") or _error(run),
        "cause": cause_document(run),
        "warnings": [
            *result.get("warnings", []),
            *_cut_warnings(run, stream_bytes),
            *_notices(run, actor),
            *_limit_warnings(run),
        ],
        "stdout": stdout,
        "stderr": stderr,
        "steps": steps_of(run),
        "artifacts": artifacts_of(run),
        "memory_writes": writes_of(run, result.get("memory_writes", []), actor=actor),
        "messages": result.get("messages", []),
        "context": result.get("context") or None,
        "network": host_accesses(run),
        "progress": run.progress,
        "pinned_at": rfc3339(run.pinned_at),
        "labels": labels_of([run]).get(run.pk, []),
        "permission": run.permission or None,
        "approval": requests.find_approval_document(run, actor),
        "waiting_for": [each.document() for each in waits_of([run]).get(run.pk, ())],
        **_related_runs(run, actor),
    }


def _related_runs(run: Run, actor: Actor) -> dict[str, Any]:
    known = Run.objects.readable_by(actor)
    keys = [key for key in (run.cached_from_id, run.rerun_of_id, run.parent_id) if key]
    uids = dict(known.filter(pk__in=keys).values_list("pk", "uid")) if keys else {}
    children = known.filter(parent=run).order_by("pk").values_list("uid", flat=True)
    return {
        "cached_from": uids.get(run.cached_from_id or 0),
        "rerun_of": uids.get(run.rerun_of_id or 0),
        "parent": uids.get(run.parent_id or 0),
        "children": list(children),
    }


def _notices(run: Run, actor: Actor) -> list[str]:
    version = Version.objects.visible_to(actor).filter(skill=run.skill_id, number=run.version_number)
    withdrawn = Q(yanked_at__isnull=False) | Q(deprecated_at__isnull=False)
    withdrawn |= Q(skill__deprecated_at__isnull=False)
    found = version.filter(withdrawn).select_related("skill__team").defer("manifest", "body").first()
    withdrawal_notices = notices(found, actor) if found else ()
    return [f"{each.message(gettext)} {each.remedy(gettext)}" for each in withdrawal_notices]


def _limit_warnings(run: Run) -> list[str]:
    if run.created_at.date() != team_limits.today():
        return []
    return [f"{each.message(gettext)} {each.remedy(gettext)}" for each in team_limits.warnings_of(run.team)]


def _cut_warnings(run: Run, stream_bytes: int) -> list[str]:
    if run.log_bytes <= stream_bytes:
        return []
    return [f"stdout and stderr hold the last {stream_bytes} bytes of each; the log has all of them"]


def _error(run: Run) -> dict[str, Any] | None:
    """The error of a run whose result contains no error, such as a cancelled run. None if the run has no
    failure code.
    """
    if not run.failure_code:
        return None
    return {"code": run.failure_code, "message": run.message, "details": None}


@reader
def steps_of(run: Run, *, with_values: bool = True) -> Reads[list[dict[str, Any]]]:
    """The platform's steps of the last attempt, with the skill's steps after ``execute``.

    Unless ``with_values``, inputs and outputs are None and not read from the database.
    """
    attempts = Attempt.objects.filter(run=run, number=run.attempt)
    rows = Step.objects.filter(run=run, attempt=run.attempt).select_related("child").order_by("seq")
    unused = () if with_values else ("input", "output")
    yield attempts, (steps := rows.defer("child__request", "child__result", *unused))
    attempt = next(iter(attempts), None)
    platform = [
        {**_PLATFORM, **step, "timestamp": step.get("started_at")}
        for step in (attempt.steps if attempt else [])
    ]
    own = [_skill_step(step, with_values=with_values) for step in steps]
    at = next((i + 1 for i, step in enumerate(platform) if step["name"] == "execute"), len(platform))
    ordered = [*platform[:at], *own, *platform[at:]]
    return [{"seq": seq, **{key: step[key] for key in STEP_KEYS}} for seq, step in enumerate(ordered)]


STEP_KEYS = (
    *("step_id", "name", "kind", "status", "timestamp", "duration_ms", "error"),
    *("input", "output", "child"),
)
_PLATFORM = {"kind": "platform", "step_id": "", "input": None, "output": None, "child": None}


@reader
def host_accesses(run: Run) -> Reads[list[dict[str, Any]]]:
    """The hosts that the last attempt tried to reach. ``message`` and ``remedy`` are "" unless the host was
    refused.
    """
    yield (attempts := Attempt.objects.filter(run=run, number=run.attempt).only("network"))
    attempt = next(iter(attempts), None)
    return [{**dial, **_access_message(dial)} for dial in (attempt.network if attempt else [])]


def _access_message(dial: Mapping[str, Any]) -> dict[str, str]:
    if dial["code"] not in CODES:
        return {"message": "", "remedy": ""}
    refused = code_named(dial["code"]).problem(host=dial["host"], port=dial["port"])
    return {"message": refused.message(gettext), "remedy": refused.remedy(gettext)}


def _skill_step(step: Step, *, with_values: bool) -> dict[str, Any]:
    return {
        "step_id": step.step_id,
        "name": step.name,
        "kind": step.kind,
        "status": "failed" if step.error else "succeeded",
        "timestamp": step.timestamp,
        "duration_ms": step.duration_ms,
        "error": step.error,
        "input": step.input if with_values else None,
        "output": step.output if with_values else None,
        "child": step.child.uid if step.child else None,
    }


def artifacts_of(run: Run) -> list[dict[str, Any]]:
    return [
        {"path": file.path, "size": file.size, "digest": file.digest, "url": artifact_url(run, file.path)}
        for file in run.artifacts.order_by("path")
    ]


def artifact_url(run: Run, path: str) -> str:
    return absolute_url(f"/api/v1/runs/{run.uid}/artifacts/{quote(path)}")


def refusal_document(error: Refusal, *, skill: str, translate: Callable[[str], str]) -> dict[str, Any]:
    """The document of a run that was refused before it was stored; it has the same keys as a stored run's.

    ``skill`` is ``team/slug`` or ``team/slug@version``.
    """
    problems = [problem.document(translate) for problem in error.problems]
    label, _, version = skill.partition("@")
    return {
        **dict.fromkeys(KEYS),
        **dict.fromkeys(("digest", "protocol", "stdout", "stderr", "format"), ""),
        **{key: [] for key in _LISTS},
        "skill": label,
        "version": version,
        "status": RunStatus.REFUSED.value,
        "success": False,
        "inputs": {},
        "outputs": {},
        "metadata": {},
        "cached": False,
        "attempt": 0,
        "failure_code": error.code,
        "message": problems[0]["message"],
        "error": {"code": error.code, "message": problems[0]["message"], "details": {"problems": problems}},
        "cause": {
            "type": error.code,
            "message": problems[0]["message"],
            "file": "",
            "line": None,
            "remedy": problems[0]["remedy"],
        },
        "sandbox": {"tier": "", "enforcement": {}},
        "readable": True,
    }
