"""Prepares calls from requests: chooses script and protocol, and builds arguments, stdin and environment."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from registry.packages.command_lines.main_part import module_name, runs_as_module
from registry.packages.package import Manifest, Profile
from worker.protocols import actions
from worker.protocols.call import Call, Request
from worker.protocols.entries import ScriptEntry, choose_entry, choose_protocol, refuse_unavailable
from worker.protocols.errors import ACTION_REQUIRED, ARGUMENTS_UNUSED, STDIN_UNUSED
from worker.protocols.formats import abp, execute_module, stdin_json
from worker.protocols.formats.arguments import argument_vector
from worker.protocols.formats.endpoint import endpoint_call, uses_endpoint
from worker.protocols.prompts.prompt_call import prompt_call
from worker.sandbox.runtimes import command_for


def prepare(
    package_paths: Iterable[str],
    manifest: Manifest,
    profile: Profile,
    request: Request,
    *,
    read: Callable[[str], bytes],
) -> Call:
    """The call that executes a request: a prompt call, an endpoint call, or a script call with command line,
    stdin and environment.

    ``read`` returns the bytes of a file of the package. Raises Refusal if the request is not valid for the
    package.
    """
    refuse_unavailable(manifest, request)
    call = _prepare(tuple(package_paths), manifest, profile, request, read)
    if call.protocol != "script" and request.arguments:
        raise ARGUMENTS_UNUSED.refusal().at("arguments")
    return call


def _prepare(
    package_paths: tuple[str, ...],
    manifest: Manifest,
    profile: Profile,
    request: Request,
    read: Callable[[str], bytes],
) -> Call:
    if call := prompt_call(package_paths, manifest, profile, request, read):
        return call
    request = abp.resolve_tool(manifest, request)
    if uses_endpoint(manifest, request):
        return endpoint_call(manifest, request)
    entry = choose_entry(package_paths, manifest, profile, request, read)
    environment = {"SKILL_DEBUG": "1"} if request.debug else {}
    protocol = choose_protocol(entry, manifest, profile, request)
    if protocol != "script" and request.stdin is not None:
        raise STDIN_UNUSED.refusal().at("stdin")
    if protocol == "execute" or (protocol == "abp" and entry.is_module):
        call = Call(
            protocol,
            entry.path,
            execute_module.argv(entry.path),
            execute_module.request_bytes(request, entry.path),
            channel=True,
        )
    elif protocol == "abp":
        call = Call(protocol, entry.path, _command(entry, read), abp.request_bytes(request))
    elif protocol == "stdin_json":
        request = _with_action(request, entry, manifest, read)
        call = Call(protocol, entry.path, _command(entry, read), stdin_json.request_bytes(request))
    else:
        argv = (*_command(entry, read), *argument_vector(request.inputs, request.arguments))
        call = Call(protocol, entry.path, argv, (request.stdin or "").encode("utf-8", "replace"))
    return replace(call, environment=environment, request=request)


def _command(entry: ScriptEntry, read: Callable[[str], bytes]) -> tuple[str, ...]:
    if runs_as_module(entry.path, read(entry.path)):
        return (*command_for(entry.path), "-m", module_name(entry.path))
    return (*command_for(entry.path), f"{execute_module.PACKAGE}/{entry.path}")


def _with_action(
    request: Request, entry: ScriptEntry, manifest: Manifest, read: Callable[[str], bytes]
) -> Request:
    """The request with its own action or the script's only action. Raises ACTION_REQUIRED if there is
    neither.
    """
    if request.action is not None:
        return request
    known = actions.find_actions(read(entry.path), manifest)
    if len(known) != 1:
        raise ACTION_REQUIRED.refusal(actions=tuple(known) or "-").at("action")
    return replace(request, action=known[0])
