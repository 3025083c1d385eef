"""Finds why an attempt failed: in the script's answer, in its output, or in the platform's failure code."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from worker.core.storable import clean_text
from worker.executors.errors import COMMAND_FAILED
from worker.files.inputs import WORK_DIR
from worker.protocols.call import Cause, Outcome
from worker.protocols.error_output import cause_in_answer, find_cause, find_error, read_lines
from worker.protocols.errors import INTERNAL_ERROR, PACKAGE_READ_ONLY, SCRIPT_FAILED
from worker.protocols.failure_kinds import failure_kind, with_kind
from worker.protocols.formats.stdin_json import describe_exit
from worker.sandbox.errors import NETWORK_HOST_REFUSED
from worker.sandbox.layout import PACKAGE
from worker.sandbox.policy import HostAccess, SandboxResult
from worker.sandbox.runtimes import command_for

_UNEXPLAINED = (SCRIPT_FAILED.name, INTERNAL_ERROR.name, COMMAND_FAILED.name)
_MAX_MESSAGE = 500  # characters
_MAX_NAME = 100
_MAX_FILE = 300
_DENIED = "(?P<reason>read-only file system|permission denied)"
_REFUSED_WRITES = (
    re.compile(rf"{_DENIED}[^'\n]*'(?P<path>[^'\n]+)'", re.IGNORECASE),  # Python and Node
    re.compile(rf"(?P<path>[^\s':‘’]+)['’]?: {_DENIED}", re.IGNORECASE),  # shells and other programs
)
_TOPS = (f"{PACKAGE}/", f"{WORK_DIR}/", "./")
_MIN_SHARED = 4  # characters; shorter messages occur in too many others


def explain_failure(
    outcome: Outcome,
    result: SandboxResult,
    paths: Collection[str] = (),
    *,
    folders: Sequence[str] = (PACKAGE,),
) -> tuple[Outcome, SandboxResult]:
    """The failed outcome with its cause and, for a common reason, a more specific failure code.

    These codes are MODULE_MISSING, PROGRAM_MISSING, HOST_REFUSED, USAGE, and PACKAGE_READ_ONLY for a write to
    one of the package's ``paths``. In the JSON stdin protocol, the error in the answer keeps its standard
    code. A refused host that only the output names is added to the host accesses of the result.
    """
    if outcome.failure_code not in _UNEXPLAINED or result.ending != "exited":
        return outcome, result
    cause = failure_cause(outcome, result, folders=folders)
    if cause and _is_package_write(cause.message, paths):
        return _with_code(outcome, PACKAGE_READ_ONLY.name, cause), result
    printed = None if cause and cause.type == outcome.failure_code and not result.stderr else cause
    lines = read_lines(result.stderr) if result.stderr.strip() else read_lines(result.stdout)
    kind = failure_kind(printed, lines, result.network, exit_code=result.exit_code, folders=folders)
    if kind is None:
        return outcome, result
    problem = kind.problem
    if kind.host:
        access = HostAccess(kind.host, 0, allowed=False, code=NETWORK_HOST_REFUSED.name)
        result = replace(result, network=(*result.network, access))
    outcome = _with_code(outcome, problem.code, _cut(with_kind(printed, kind)))
    return replace(outcome, message=problem.message()), result


def _with_code(outcome: Outcome, code: str, cause: Cause) -> Outcome:
    error = {**(outcome.error or {}), "code": code} if outcome.answer is None else outcome.error
    return replace(outcome, failure_code=code, error=error, cause=cause)


def _is_package_write(message: str, paths: Collection[str]) -> bool:
    found = next(filter(None, (pattern.search(message) for pattern in _REFUSED_WRITES)), None)
    if found is None:
        return False
    path = found["path"]
    inside = next((path[len(top) :] for top in _TOPS if path.startswith(top)), path)
    if found["reason"].lower() == "permission denied":
        if inside in paths and command_for(inside):  # this means a script that can't be executed, not a write
            return False
    elif not path.startswith("/"):  # a relative path on a read-only file system is always in the package
        return True
    return path.startswith(f"{PACKAGE}/") or _below(inside, paths)


def _below(path: str, paths: Collection[str]) -> bool:
    """Whether the path is below a top folder of the package; the working folder links to these folders."""
    top, separator, _rest = path.partition("/")
    return bool(separator) and any(each.startswith(f"{top}/") for each in paths)


def package_folders(folder: Path) -> tuple[str, ...]:
    """The paths under which scripts can see a package that is unpacked in ``folder``."""
    return (PACKAGE, WORK_DIR, str(folder))  # the working folder has links into the package


def failure_cause(
    outcome: Outcome, result: SandboxResult | None, *, folders: Sequence[str] = ("/skill",)
) -> Cause | None:
    """The cause of a failed outcome, cut to lengths that lists can show; None for a success.

    ``folders`` are the paths under which the package can appear; the cause's file is relative to them.
    """
    if outcome.success:
        return None
    return outcome.cause or _cut(_find(outcome, result, folders))


def _find(outcome: Outcome, result: SandboxResult | None, folders: Sequence[str]) -> Cause:
    given = Cause(outcome.failure_code, outcome.message)
    if result is None or result.ending != "exited":
        return given
    if thrown := _thrown(outcome, folders):
        return thrown
    if not _is_unexplained(outcome, result):
        return _with_place(cause_in_answer({"error": outcome.error}) or given, result, folders)
    if answered := cause_in_answer(outcome.outputs):
        return _with_place(answered, result, folders)
    if result.signal is not None:  # the last line before a signal does not explain the failure
        return find_error(read_lines(result.stderr), folders) or given
    return find_cause(result.stderr, result.stdout, folders=folders) or given


def _is_unexplained(outcome: Outcome, result: SandboxResult) -> bool:
    return outcome.failure_code == COMMAND_FAILED.name or describe_exit(result) in outcome.message


def _thrown(outcome: Outcome, folders: Sequence[str]) -> Cause | None:
    """The error that ``execute()`` threw, with file and line from the stack; None if no stack was
    reported.
    """
    details = (outcome.error or {}).get("details")
    if not isinstance(details, Mapping) or not isinstance(details.get("stack"), str):
        return None
    traced = find_error(read_lines(details["stack"].encode("utf-8", "replace")), folders)
    name = details.get("name")
    thrown = Cause(name if isinstance(name, str) and name else outcome.failure_code, outcome.message)
    return replace(thrown, file=traced.file, line=traced.line) if traced else thrown


def _with_place(cause: Cause, result: SandboxResult, folders: Sequence[str]) -> Cause:
    """The cause with type, file and line of the exception in stderr, if both have the same message."""
    traced = find_error(read_lines(result.stderr), folders)
    if traced is None or not traced.file or not _is_same(traced.message, cause.message):
        return cause
    return replace(cause, type=traced.type or cause.type, file=traced.file, line=traced.line)


def _is_same(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) >= _MIN_SHARED and shorter in longer


def _cut(cause: Cause) -> Cause:
    message = clean_text(cause.message).strip()
    if len(message) > _MAX_MESSAGE:
        message = message[: _MAX_MESSAGE - 1] + "…"
    return Cause(clean_text(cause.type)[:_MAX_NAME], message, clean_text(cause.file)[:_MAX_FILE], cause.line)
