"""The one document of a run that commands, API and pages show, as docs/api.md describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from django.db.models import Q
from django.utils.translation import gettext

from registry.actors import Actor
from registry.addresses import absolute
from registry.catalog import notices
from registry.models import Version
from registry.moments import moment
from registry.packages.problems import CODES, Refused, problem, refuse
from worker import team_limits
from worker.approvals import asking
from worker.dependencies.waiting import waits_of
from worker.memory.documents import writes_of
from worker.models import Attempt, Run, Status, Step
from worker.recording import STREAM_BYTES, streams_of


def run_document(run: Run, *, actor: Actor, stream_bytes: int = STREAM_BYTES) -> dict[str, Any]:
    """What the actor may know of the run; its content keys are left out for those who may not read it.

    Of stdout and stderr it holds the last ``stream_bytes`` each.
    """
    known = Run.objects.visible_to(actor).filter(pk=run.pk)
    if not known.exists():
        raise refuse("NOT_FOUND", what="run", name=run.uid)
    document = _standing(run)
    if Run.objects.readable_by(actor).filter(pk=run.pk).exists():
        document |= _content(run, actor, stream_bytes)
    return {key: document[key] for key in KEYS if key in document}


KEYS = (
    *(
        "id",
        "skill",
        "version",
        "digest",
        "protocol",
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
    *("message", "error", "warnings", "stdout", "stderr", "steps", "artifacts", "memory_writes", "cached"),
    *("messages", "context"),
    *("cached_from", "parent", "children"),
    *("attempt", "duration_ms", "sandbox", "network", "permission", "approval", "waits_for", "erased_at"),
)


def _standing(run: Run) -> dict[str, Any]:
    return {
        "id": run.uid,
        "skill": run.skill_label,
        "version": run.version_number,
        "digest": run.digest,
        "protocol": run.protocol,
        "status": run.status,
        "failure_code": run.failure_code,
        "success": run.status == "succeeded",
        "cached": run.cached_from_id is not None,
        "attempt": run.attempt,
        "duration_ms": duration_ms(run),
        "sandbox": run.sandbox or {"tier": "", "enforcement": {}},
        "erased_at": moment(run.erased_at),
    }


def _content(run: Run, actor: Actor, stream_bytes: int) -> dict[str, Any]:
    result: Mapping[str, Any] = run.result or {}
    stdout, stderr = streams_of(run, most=stream_bytes)
    return {
        "outputs": result.get("outputs", {}),
        "output": result.get("output"),
        "format": result.get("format") or "",
        "answer": result.get("answer"),
        "metadata": result.get("metadata") or {},
        "token_usage": result.get("token_usage"),
        "message": run.message,
        "error": result.get("error") or _error(run),
        "warnings": [
            *result.get("warnings", []),
            *_cut_warnings(run, stream_bytes),
            *_notices(run, actor),
            *_nearly_spent(run),
        ],
        "stdout": stdout,
        "stderr": stderr,
        "steps": steps_of(run),
        "artifacts": artifacts_of(run),
        "memory_writes": writes_of(run, result.get("memory_writes", []), actor=actor),
        "messages": result.get("messages", []),
        "context": result.get("context") or None,
        "network": dials_of(run),
        "permission": run.permission or None,
        "approval": asking.document_of(run, actor),
        "waits_for": [each.document() for each in waits_of([run]).get(run.pk, ())],
        **_others(run, actor),
    }


def _others(run: Run, actor: Actor) -> dict[str, Any]:
    """The runs that it has to do with, those that the reader may read alone."""
    known = Run.objects.readable_by(actor)
    named = [key for key in (run.cached_from_id, run.parent_id) if key]
    uids = dict(known.filter(pk__in=named).values_list("pk", "uid")) if named else {}
    children = known.filter(parent=run).order_by("pk").values_list("uid", flat=True)
    return {
        "cached_from": uids.get(run.cached_from_id or 0),
        "parent": uids.get(run.parent_id or 0),
        "children": list(children),
    }


def _notices(run: Run, actor: Actor) -> list[str]:
    """That the version which ran, or its skill, is yanked or deprecated."""
    version = Version.objects.visible_to(actor).filter(skill=run.skill_id, number=run.version_number)
    withdrawn = Q(yanked_at__isnull=False) | Q(deprecated_at__isnull=False)
    withdrawn |= Q(skill__deprecated_at__isnull=False)
    found = version.filter(withdrawn).select_related("skill__team").defer("manifest", "body").first()
    told = notices(found, actor) if found else ()
    return [f"{each.message(gettext)} {each.remedy(gettext)}" for each in told]


def _nearly_spent(run: Run) -> list[str]:
    """What its team has nearly used up, said of the runs of today."""
    if run.created_at.date() != team_limits.today():
        return []
    return [f"{each.message(gettext)} {each.remedy(gettext)}" for each in team_limits.warnings_of(run.team)]


def _cut_warnings(run: Run, stream_bytes: int) -> list[str]:
    if run.log_bytes <= stream_bytes:
        return []
    return [f"stdout and stderr hold the last {stream_bytes} bytes of each; the log has all of them"]


def _error(run: Run) -> dict[str, Any] | None:
    """Runs that ended without an answer of the script: cancelled, lost, refused."""
    if not run.failure_code:
        return None
    return {"code": run.failure_code, "message": run.message, "details": None}


def duration_ms(run: Run) -> float | None:
    """From the start of the last attempt to its end; None while there is no end."""
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at).total_seconds() * 1000, 3)


def steps_of(run: Run) -> list[dict[str, Any]]:
    """The platform's steps of the last attempt, with the skill's own after ``execute``."""
    attempt = Attempt.objects.filter(run=run, number=run.attempt).first()
    platform = [{**_PLATFORM, **step} for step in (attempt.steps if attempt else [])]
    own = list(_own_steps(run))
    at = next((i + 1 for i, step in enumerate(platform) if step["name"] == "execute"), len(platform))
    ordered = [*platform[:at], *own, *platform[at:]]
    return [{"seq": seq, **{key: step[key] for key in STEP_KEYS}} for seq, step in enumerate(ordered)]


STEP_KEYS = ("name", "kind", "status", "duration_ms", "error", "input", "output", "child")
_PLATFORM = {"kind": "platform", "input": None, "output": None, "child": None}


def dials_of(run: Run) -> list[dict[str, Any]]:
    """The hosts that the last attempt asked for; of a refused one, why and what to do about it."""
    attempt = Attempt.objects.filter(run=run, number=run.attempt).only("network").first()
    return [{**dial, **_why(dial)} for dial in (attempt.network if attempt else [])]


def _why(dial: Mapping[str, Any]) -> dict[str, str]:
    if dial["why"] not in CODES:
        return {"message": "", "remedy": ""}
    refused = problem(dial["why"], host=dial["host"], port=dial["port"])
    return {"message": refused.message(gettext), "remedy": refused.remedy(gettext)}


def _own_steps(run: Run) -> Iterator[dict[str, Any]]:
    rows = Step.objects.filter(run=run, attempt=run.attempt).select_related("child").order_by("seq")
    for step in rows.defer("child__request", "child__result"):
        yield {
            "name": step.name,
            "kind": step.kind,
            "status": "failed" if step.error else "succeeded",
            "duration_ms": step.duration_ms,
            "error": step.error,
            "input": step.input,
            "output": step.output,
            "child": step.child.uid if step.child else None,
        }


def artifacts_of(run: Run) -> list[dict[str, Any]]:
    return [
        {"path": file.path, "size": file.size, "digest": file.digest, "url": artifact_url(run, file.path)}
        for file in run.artifacts.order_by("path")
    ]


def artifact_url(run: Run, path: str) -> str:

    return absolute(f"/api/v1/runs/{run.uid}/artifacts/{quote(path)}")


def refusal_document(no: Refused, *, skill: str, translate: Callable[[str], str]) -> dict[str, Any]:
    """A run that was refused before there was a row, in the shape of every other run."""
    problems = [problem.document(translate) for problem in no.problems]
    label, _, version = skill.partition("@")
    empty = dict.fromkeys(("digest", "protocol", "stdout", "stderr"), "")
    nothing: dict[str, Any] = {
        key: []
        for key in ("warnings", "steps", "artifacts", "memory_writes", "messages", "network", "waits_for")
    }
    document = {
        **empty,
        **nothing,
        "id": None,
        "skill": label,
        "version": version,
        "status": Status.REFUSED.value,
        "success": False,
        "outputs": {},
        "output": None,
        "format": "",
        "answer": None,
        "metadata": {},
        "token_usage": None,
        "context": None,
        "cached": False,
        "cached_from": None,
        "parent": None,
        "children": [],
        "attempt": 0,
        "duration_ms": None,
        "failure_code": no.code,
        "message": problems[0]["message"],
        "error": {"code": no.code, "message": problems[0]["message"], "details": {"problems": problems}},
        "sandbox": {"tier": "", "enforcement": {}},
        "permission": None,
        "approval": None,
        "erased_at": None,
    }
    return {key: document[key] for key in KEYS}
