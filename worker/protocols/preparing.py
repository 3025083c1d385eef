"""A request → the prepared start: entry and protocol chosen, vector, stdin and environment made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from registry.packages.package import Manifest, Profile
from registry.packages.problems import refuse
from worker.protocols import abp, actions, execute_module, stdin_json
from worker.protocols.arguments import argument_vector
from worker.protocols.call import Call, Request
from worker.protocols.entries import Entry, choose, protocol_of, refuse_unavailable
from worker.protocols.prompting import prompt_call
from worker.protocols.served import is_served, served_call
from worker.sandbox.runtimes import argv_prefix


def prepare(
    package_paths: Iterable[str],
    manifest: Manifest,
    profile: Profile,
    request: Request,
    *,
    read: Callable[[str], bytes],
) -> Call:
    """Everything the sandbox needs to start this call; refuses with the code of what is wrong with it."""
    refuse_unavailable(manifest, request)
    package_paths = tuple(package_paths)
    if call := prompt_call(package_paths, manifest, profile, request):
        return call
    request = abp.with_tool(manifest, request)
    if is_served(manifest, request):
        return served_call(manifest, request)
    entry = choose(package_paths, manifest, profile, request)
    environment = {"SKILL_DEBUG": "1"} if request.debug else {}
    protocol = protocol_of(entry, manifest, profile, request)
    if protocol != "script" and request.stdin is not None:
        raise refuse("STDIN_UNUSED", path="stdin")
    if protocol == "execute" or (protocol == "abp" and entry.is_module):
        call = Call(
            protocol,
            entry.path,
            execute_module.argv(entry.path),
            execute_module.request_bytes(request, entry.path),
            channel=True,
        )
    elif protocol == "abp":
        call = Call(protocol, entry.path, _start(entry), abp.request_bytes(request))
    elif protocol == "stdin_json":
        request = _with_action(request, entry, manifest, read)
        call = Call(protocol, entry.path, _start(entry), stdin_json.request_bytes(request))
    else:
        vector = (*_start(entry), *argument_vector(request.inputs))
        call = Call(protocol, entry.path, vector, (request.stdin or "").encode("utf-8", "replace"))
    return replace(call, environment=environment, request=request)


def _start(entry: Entry) -> tuple[str, ...]:
    return (*argv_prefix(entry.path), f"{execute_module.PACKAGE}/{entry.path}")


def _with_action(request: Request, entry: Entry, manifest: Manifest, read: Callable[[str], bytes]) -> Request:
    """The request with an action: the caller's, or the only one that the script has."""
    if request.action is not None:
        return request
    known = actions.declared(read(entry.path), manifest)
    if len(known) != 1:
        raise refuse("ACTION_REQUIRED", path="action", actions=", ".join(known) or "-")
    return replace(request, action=known[0])
