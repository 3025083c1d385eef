"""The tools that start and read runs. They return at once; ``RunWait`` describes the wait of the
event loop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from registry.api.errors import IDEMPOTENCY_KEY_REUSED
from registry.core.addresses import absolute_url
from registry.identity.actors import Actor
from registry.lookup import skills
from registry.models import Version
from worker.api.documents.find_run import find_run
from worker.facades.mcp.messages import CAPABILITIES_KEY, STATELESS, VERSION_KEY, RpcCall
from worker.facades.mcp.waits import RunWait
from worker.models import Run, RunStatus
from worker.protocols.call import Request
from worker.queue.states import ENDED
from worker.run_views.documents import run_document
from worker.runs.request import find_by_idempotency_key, request_run

_STREAM_BYTES = 8_192  # bytes from the end of stdout and of stderr
_KEYS = (
    *("status", "skill", "version", "digest", "failure_code", "message", "outputs", "output", "answer"),
    *("stdout", "stderr", "artifacts", "warnings", "progress", "duration_ms", "cached"),
)
_NEXT = {
    RunStatus.QUEUED: "Call run_status with this run_id and wait.",
    RunStatus.RUNNING: "Call run_status with this run_id and wait.",
    RunStatus.WAITING_APPROVAL: "Show the user approval.page_url, where a person must approve the run. Then "
    "call run_status with this run_id and wait. Don't start the run again.",
    RunStatus.SUCCEEDED: "Use the outputs.",
}
_FAILED_NEXT = "Correct the cause given in message and remedy before you start another run."


def start_run(arguments: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    """Starts the run, or returns the run of an earlier call with the same idempotency key. Raises
    IDEMPOTENCY_KEY_REUSED if that call named another skill or other inputs, and the errors of
    ``request_run``.
    """
    label, _, number = arguments["skill"].partition("@")
    version = skills.find_version(skills.find_skill(label, actor), number or None, actor)
    key = f"mcp:{arguments['idempotency_key']}" if arguments.get("idempotency_key") else ""
    if key and (earlier := find_by_idempotency_key(actor, key)):
        _require_same(earlier, version, arguments)
        return run_result(earlier, actor)
    run = request_run(
        actor=actor,
        version=version,
        request=Request(
            inputs=arguments.get("inputs", {}),
            arguments=arguments.get("arguments", []),
            script=arguments.get("script"),
            action=arguments.get("action"),
            tool=arguments.get("tool"),
            stdin=arguments.get("stdin"),
        ),
        team=skills.find_team(arguments["team"], actor) if arguments.get("team") else None,
        idempotency_key=key,
    )
    return run_result(run, actor)


def run_status(arguments: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    """The run's document. Raises NOT_FOUND if the actor can't see the run."""
    return run_result(find_run(arguments["run_id"], actor), actor)


def run_result(run: Run, actor: Actor) -> dict[str, Any]:
    """The run's document for an agent, with only the status fields if the actor can't read its content."""
    document = run_document(run, actor=actor, stream_bytes=_STREAM_BYTES, with_inputs=False)
    approval = document.get("approval")
    kept = {key: document[key] for key in _KEYS if document.get(key) not in (None, "", [], {})}
    return {
        "run_id": run.uid,
        **kept,
        "remedy": (document.get("cause") or {}).get("remedy") or "",
        "approval": approval
        and {key: approval[key] for key in ("state", "page_url", "expires_at", "reason")},
        "page_url": absolute_url(f"/runs/{run.uid}/"),
        "next": _NEXT.get(RunStatus(run.status), _FAILED_NEXT),
    }


def is_failed(result: Mapping[str, Any]) -> bool:
    return result["status"] in ENDED and result["status"] != RunStatus.SUCCEEDED


def wait_for(
    call: RpcCall, name: str, arguments: Mapping[str, Any], result: Mapping[str, Any], *, streams: bool
) -> RunWait | None:
    """The wait that the call requests; None if it requests none or the result is final.

    ``skills_run`` does not wait for an approval, so that the agent can show the approval page to the user.
    """
    for_approval = result["status"] == RunStatus.WAITING_APPROVAL
    if result["status"] in ENDED or not arguments["wait"] or (for_approval and name == "skills_run"):
        return None
    meta = {VERSION_KEY: STATELESS, CAPABILITIES_KEY: {}}
    params = {"name": "run_status", "arguments": {"run_id": result["run_id"]}}
    if call.is_stateless:
        params["_meta"] = meta
    body = {"jsonrpc": "2.0", "id": call.id, "method": call.method, "params": params}
    token = call.progress_token if streams else None
    return RunWait(result["run_id"], for_approval, arguments["wait"], token, json.dumps(body))


def _require_same(earlier: Run, version: Version, arguments: Mapping[str, Any]) -> None:
    wanted = arguments.get("inputs", {})
    if earlier.skill_id != version.skill_id or (earlier.request or {}).get("inputs", {}) != wanted:
        raise IDEMPOTENCY_KEY_REUSED.refusal()
