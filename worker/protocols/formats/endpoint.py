"""Protocol ``endpoint``: HTTP requests to a service or distributed skill, and their answers.

POST {skill, version, tool?, parameters, context, config} → a 2xx answer with a SkillExecutionOutcome as JSON,
or ``{id, tool, result}`` for a tool call (ApexBridge packages).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from registry.packages.manifest.endpoints import ENDPOINT_TYPES, is_allowed
from registry.packages.package import Manifest
from worker.protocols.call import Call, Outcome, Request
from worker.protocols.errors import ENDPOINT_NOT_ALLOWED, EXTERNAL_SERVICE_ERROR, INVALID_JSON, STDIN_UNUSED
from worker.protocols.formats import execute_module
from worker.protocols.formats.execute_module import failed_outcome
from worker.protocols.outcome import interpret
from worker.sandbox.policy import SandboxResult

_MAX_ENTRY = 500  # length of the run's column


def uses_endpoint(manifest: Manifest, request: Request) -> bool:
    """Whether the call goes to an endpoint; a named script or action runs in the sandbox instead."""
    in_sandbox = request.script is not None or request.action is not None
    return manifest.type in ENDPOINT_TYPES and bool(manifest.endpoints) and not in_sandbox


def endpoint_call(manifest: Manifest, request: Request) -> Call:
    """The call to the first allowed endpoint.

    Raises ENDPOINT_NOT_ALLOWED if no endpoint is allowed, and STDIN_UNUSED if the request has ``stdin``.
    """
    if request.stdin is not None:
        raise STDIN_UNUSED.refusal().at("stdin")
    hosts = manifest.security.network_allowlist if manifest.security.network == "allowlist" else ()
    allowed = [address for address in manifest.endpoints if is_allowed(address, hosts)]
    if not allowed:
        address = _without_query(manifest.endpoints[0])
        raise ENDPOINT_NOT_ALLOWED.refusal(address=address).at("security.network_allowlist")
    return Call("endpoint", _without_query(allowed[0])[:_MAX_ENTRY], (), request=request)


def _without_query(address: str) -> str:
    """The address without query and fragment, because the query may contain a key."""
    return urlsplit(address)._replace(query="", fragment="").geturl()


def request_bytes(request: Request) -> bytes:
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


def parse_answer(call: Call, status: int, body: bytes, schema: Mapping[str, Any] | None) -> Outcome:
    """The outcome of an HTTP answer, which is untrusted.

    A status other than 2xx is a failure. Otherwise the body must be JSON and its output must match
    ``schema``.
    """
    try:
        value = json.loads(body.decode("utf-8", "replace"))
        value = json.loads(json.dumps({"returned": value}, allow_nan=False))
    except (ValueError, RecursionError):
        value = None
    if not 200 <= status < 300:
        return _failed_status(status, value["returned"] if value else None)
    if value is None:
        return failed_outcome(INVALID_JSON.name, "the endpoint's answer is not JSON", {"status": status})
    returned = json.dumps(value).encode()
    result = SandboxResult("exited", 0, None, b"", b"", returned, 0.0, "", {})
    answered = replace(call, protocol="abp" if call.request.tool is not None else "execute", channel=True)
    return interpret(answered, result, output_schema=schema)


def _failed_status(status: int, value: object) -> Outcome:
    if isinstance(value, Mapping) and isinstance(value.get("error"), Mapping | str):
        return execute_module.outcome_of_result({**value, "status": "error"}, ())
    message = f"the endpoint answered with status {status}"
    return failed_outcome(EXTERNAL_SERVICE_ERROR.name, message, {"status": status})
