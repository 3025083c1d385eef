"""The protocol ``endpoint``: what a service or distributed skill is asked over HTTP, and what it answers.

POST {skill, version, tool?, parameters, context, config} → a 2xx answer with a SkillExecutionOutcome as JSON,
of a tool's call document C's ``{id, tool, result}`` too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from registry.packages.endpoints import SERVED, is_allowed
from registry.packages.package import Manifest
from registry.packages.problems import refuse
from worker.protocols import execute_module
from worker.protocols import served_codes as served_codes  # declares what is refused here
from worker.protocols.call import Call, Outcome, Request
from worker.protocols.execute_module import failed
from worker.protocols.outcome import interpret
from worker.sandbox.policy import Ended

_ENTRY = 500  # characters, as a run's row keeps them


def is_served(manifest: Manifest, request: Request) -> bool:
    """Whether the call goes to an endpoint; a script or an action that is named runs here."""
    here = request.script is not None or request.action is not None
    return manifest.type in SERVED and bool(manifest.endpoints) and not here


def served_call(manifest: Manifest, request: Request) -> Call:
    """The call, whose entry is the first endpoint that may be asked; refused where none may."""
    if request.stdin is not None:
        raise refuse("STDIN_UNUSED", path="stdin")
    hosts = manifest.security.network_allowlist if manifest.security.network == "allowlist" else ()
    allowed = [address for address in manifest.endpoints if is_allowed(address, hosts)]
    if not allowed:
        address = _shown(manifest.endpoints[0])
        raise refuse("ENDPOINT_NOT_ALLOWED", path="security.network_allowlist", address=address)
    return Call("endpoint", _shown(allowed[0])[:_ENTRY], (), request=request)


def _shown(address: str) -> str:
    """Without query, which may hold a key."""
    return urlsplit(address)._replace(query="", fragment="").geturl()


def asked_bytes(request: Request) -> bytes:
    config = dict(request.config)
    document = {
        "skill": config.get("skill"),
        "version": config.get("version"),
        **({"tool": request.tool} if request.tool is not None else {}),
        "parameters": dict(request.inputs),
        "context": execute_module.context_of(request),
        "config": config,
    }
    return json.dumps(document).encode()


def answer_of(call: Call, status: int, body: bytes, schema: Mapping[str, Any] | None) -> Outcome:
    """The answer as an outcome, held to the skill's schema; nothing in it is trusted."""
    try:
        value = json.loads(body.decode("utf-8", "replace"))
        value = json.loads(json.dumps({"returned": value}, allow_nan=False))
    except (ValueError, RecursionError):
        value = None
    if not 200 <= status < 300:
        return _said_no(status, value["returned"] if value else None)
    if value is None:
        return failed("INVALID_JSON", "the endpoint's answer is not JSON", {"status": status})
    returned = json.dumps(value).encode()
    ended = Ended("exited", 0, None, b"", b"", returned, 0.0, "", {})
    spoken = replace(call, protocol="abp" if call.request.tool is not None else "execute", channel=True)
    return interpret(spoken, ended, output_schema=schema)


def _said_no(status: int, value: object) -> Outcome:
    """A status that is no success; where its body tells an error as document C has it, that is kept."""
    if isinstance(value, Mapping) and isinstance(value.get("error"), Mapping | str):
        return execute_module.returned({**value, "status": "error"}, ())
    message = f"the endpoint answered with status {status}"
    return failed("EXTERNAL_SERVICE_ERROR", message, {"status": status})
