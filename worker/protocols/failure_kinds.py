"""Recognizes common reasons for a failure: a missing module or program, a refused host, wrong arguments.

Reads the cause and the last lines of the output. Every pattern is linear in the length of a line, because the
output is untrusted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from registry.packages.problems import Problem
from worker.protocols.call import Cause
from worker.protocols.errors import HOST_REFUSED, MODULE_MISSING, PROGRAM_MISSING, USAGE
from worker.protocols.script_files import own_file
from worker.sandbox.errors import (
    NETWORK_ADDRESS_LITERAL,
    NETWORK_ADDRESS_REFUSED,
    NETWORK_HOST_REFUSED,
    NETWORK_PORT_REFUSED,
)
from worker.sandbox.policy import HostAccess

_MAX_NAME = 100
_MAX_LINES = 60  # number of lines at the end of the output that are searched
_MAX_LINE = 500  # characters of a line
_MAX_ADVICE = 6  # lines at the end that can name what to install
_REFUSALS = (
    NETWORK_HOST_REFUSED.name,
    NETWORK_PORT_REFUSED.name,
    NETWORK_ADDRESS_LITERAL.name,
    NETWORK_ADDRESS_REFUSED.name,
)
_MODULES = tuple(
    map(
        re.compile,
        (
            r"No module named '?(?P<name>[\w.]+)",  # Python
            r"Cannot find (?:module|package) '(?P<name>[^']+)'",  # Node
            r'Import "(?P<name>[^"]+)" not a dependency',  # Deno
            r'[Rr]elative import path "(?P<name>[^"]+)" not prefixed',
            r'Module not found "(?P<name>[^"]+)"',
            r"(?:npm|JSR) package (?:manifest for )?['\"](?P<name>[^'\"]+)['\"]",
            r"specifier was requested: \"(?P<name>[^\"]+)\", but --",
            r"npm package not found in cache: \"(?P<name>[^\"]+)\"",
            r"cannot load such file -- (?P<name>\S+)",  # Ruby
            r"Can't locate (?P<name>\S+) in @INC",  # Perl
        ),
    )
)
_NOT_INSTALLED = r"(?:is |was |are )?(?:required,? but )?(?:it's |it is )?not installed"
_LIBRARY_ADVICE = (
    re.compile(r"\b(?:pip3?|uv|conda|npm|pnpm|yarn|bun|gem) (?:pip )?(?:install|add|i) (?P<words>.{1,200})"),
    re.compile(rf"['\"`]?(?P<words>[\w.@/-]{{2,80}})['\"`]? (?:library|module|package) {_NOT_INSTALLED}"),
)
_PROGRAM_ADVICE = (
    re.compile(r"\b(?:apt|apt-get|brew|dnf|yum|apk|pacman) (?:install|add|-S) (?P<words>.{1,200})"),
    re.compile(rf"(?:^|[\s'\"`(])(?P<words>[\w.+-]{{2,80}})['\"`)]? {_NOT_INSTALLED}"),
    re.compile(r"(?:^|[\s'\"`])(?P<words>[\w.+-]{2,80})['\"`]? (?:was |is )?not found (?:in|on) .{0,6}PATH"),
    re.compile(r"(?:^|[\s'\"`])(?P<words>[\w.+-]{2,80})['\"`]? not found[.,;:]? .{0,40}\binstall"),
)
_NO_NAMES = frozenset(
    {
        *(
            "a",
            "an",
            "and",
            "are",
            "be",
            "been",
            "command",
            "dependencies",
            "dependency",
            "file",
            "following",
        ),
        *("is", "it", "library", "module", "node", "not", "or", "package", "packages", "please", "program"),
        *("python", "required", "requirements.txt", "the", "tool", "with", "your"),
    }
)
_PROGRAMS = (
    re.compile(r"(?:^|: )(?:line )?\d+: (?P<name>[\w.+/-]+): (?:command )?not found$"),  # bash, dash
    re.compile(r"(?:^|: )(?P<name>[\w.+/-]+): command not found$"),
    re.compile(r"command not found: (?P<name>[\w.+/-]+)$"),  # zsh
    re.compile(r"\benv: [‘'\"]?(?P<name>[\w.+-]+)[’'\"]?: No such file or directory$"),
    re.compile(r"\bspawn(?:Sync)? (?P<name>[\w.+/-]+) ENOENT"),  # Node
    re.compile(r"Failed to spawn '(?P<name>[\w.+/-]+)'"),  # Deno
)
_NO_FILE = re.compile(r"No such file or directory: '(?P<name>[^'\n]+)'")
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/opt/", "/sbin/", "/snap/")
_UNRESOLVED = re.compile(
    r"name resolution|Name or service not known|EAI_AGAIN|ENOTFOUND|could not resolve|unable to resolve|"
    r"dns error|Network is unreachable|ENETUNREACH|NETWORK_[A-Z]+_REFUSED|NETWORK_ADDRESS_LITERAL",
    re.IGNORECASE,
)
_CONNECTION = re.compile(
    r"tunnel|proxy|max retries|connection (?:error|refused|aborted|reset)|connect(?:ion)?error|ECONN|"
    r"fetch failed|error sending request|\b403\b|forbidden|curl: \(\d+\)|urlopen error|failed to connect|"
    r"network|wget:|timed? ?out",
    re.IGNORECASE,
)
_HOSTS = (
    re.compile(r"\bhost='(?P<host>[\w.-]+)'"),
    re.compile(r"getaddrinfo [A-Z_]+ (?P<host>[\w.-]+)"),
    re.compile(r"resolve(?: host(?: address)?)?:? [‘'\"]?(?P<host>[\w-]+(?:\.[\w-]+)+)"),
    re.compile(r"https?://(?P<host>[\w-]+(?:\.[\w-]+)+)"),
)
_OWN_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0")
_USAGE_LINE = re.compile(r"\s*(?:usage|synopsis|用法|使用方法)\s*[:：]", re.IGNORECASE)
_USAGE_ERROR = re.compile(
    r"the following arguments are required|unrecognized arguments|expected (?:at least )?\w+ arguments?\b|"
    r"invalid choice:|unexpected extra argument|^Missing (?:required )?(?:argument|option|command|parameter)|"
    r"^No such (?:option|command)|missing required argument|required option .{1,80} not specified|"
    r"unknown (?:option|argument|command|flag)s?\b|not enough non-option arguments|"
    r"(?:illegal|invalid|unrecognized) option|option requires an argument|too (?:few|many) arguments|"
    r"\$\d+: unbound variable|^\d+: (?:parameter (?:null or )?not set|usage)|^option '.{1,80}' argument",
    re.IGNORECASE,
)
_ARGV = re.compile(r"\bsys\.argv\b|\bargv?\s*\[|\bARGV\b")
_PARSER_ERRORS = ("", "CommanderError", "SystemExit", "MissingArgument", "InvalidOption")


@dataclass(frozen=True)
class FailureKind:
    """A recognized reason for a failure. ``problem`` has its code and texts; ``file`` is
    the file to report if the cause names none.

    ``host`` is a refused host that the run's proxy has not recorded, or "".
    """

    problem: Problem
    file: str = ""
    host: str = ""


def failure_kind(
    cause: Cause | None,
    lines: Sequence[str],
    network: Sequence[HostAccess],
    *,
    exit_code: int | None,
    folders: Sequence[str],
) -> FailureKind | None:
    """The recognized reason of a failure, from its ``cause`` and the ``lines`` of its output; otherwise None.

    ``cause`` is None if the program printed no error. Every name in the result is at most 100 characters.
    """
    last = [line[:_MAX_LINE] for line in lines if line.strip()][-_MAX_LINES:]
    if cause is None:
        return _refused_host(Cause("", ""), last, network)
    return (
        _missing_module(cause, folders)
        or _missing_program(cause, last, exit_code)
        or _refused_host(cause, last, network)
        or _advice(cause, last)
        or _wrong_arguments(cause, last)
    )


def usage_lines(lines: Sequence[str]) -> list[str]:
    """The last usage text in the output, up to an empty line and at most 40 lines; [] if there is none."""
    at = next((n for n in range(len(lines) - 1, -1, -1) if _USAGE_LINE.match(lines[n])), None)
    if at is None:
        return []
    end = next((n for n in range(at + 1, len(lines)) if not lines[n].strip()), len(lines))
    return list(lines[at : min(end, at + 40)])


def _missing_module(cause: Cause, folders: Sequence[str]) -> FailureKind | None:
    found = next(filter(None, (pattern.search(cause.message) for pattern in _MODULES)), None)
    if found is None:
        return None
    name = found["name"].removeprefix("file://")
    name = own_file(name, folders) if name.startswith("/") else name
    importer = re.search(r" imported from (?:file://)?(\S+)", cause.message)
    file = own_file(importer[1], folders) if importer and not cause.file else ""
    return FailureKind(MODULE_MISSING.problem(module=(name or found["name"])[:_MAX_NAME]), file)


def _missing_program(cause: Cause, last: Sequence[str], exit_code: int | None) -> FailureKind | None:
    name = _program_in([cause.message, *last[-2:]])
    if not name and (exit_code == 127 or "status 127" in cause.message or _is_quoted(cause.message, last)):
        name = _program_in(reversed(last))
    if (
        not name
        and any("_execute_child" in line for line in last)
        and (found := _NO_FILE.search(cause.message))
    ):
        name = found["name"] if _is_program(found["name"]) else ""
    return FailureKind(PROGRAM_MISSING.problem(program=name[:_MAX_NAME])) if name else None


def _program_in(lines: Iterator[str] | Sequence[str]) -> str:
    found = next((each for line in lines for pattern in _PROGRAMS if (each := pattern.search(line))), None)
    return found["name"] if found and _is_program(found["name"]) else ""


def _is_program(name: str) -> bool:
    """Whether ``name`` means a program and not a path in the package or the working folder."""
    return "/" not in name or name.startswith(_SYSTEM_FOLDERS)


def _is_quoted(message: str, last: Sequence[str]) -> bool:
    """Whether the message only reports that a command failed, as Node's does. The reason is then in other
    lines.
    """
    return message.startswith("Command failed") and bool(last)


def _refused_host(cause: Cause, last: Sequence[str], network: Sequence[HostAccess]) -> FailureKind | None:
    text = f"{cause.type} {cause.message}"
    refused = [access.host for access in network if access.code in _REFUSALS and access.host not in ("", "*")]
    if refused:
        named = next((host for host in refused if host in text), "")
        silent = not cause.message and not last
        if named or silent or _CONNECTION.search(text) or _UNRESOLVED.search(text):
            return FailureKind(HOST_REFUSED.problem(host=(named or refused[-1])[:_MAX_NAME]))
        return None
    if not _UNRESOLVED.search(text):
        return None
    hosts = (each["host"] for line in (text, *reversed(last)) for p in _HOSTS if (each := p.search(line)))
    host = next((host for host in hosts if host not in _OWN_HOSTS), "")[:_MAX_NAME]
    return FailureKind(HOST_REFUSED.problem(host=host), host=host) if host else None


def _advice(cause: Cause, last: Sequence[str]) -> FailureKind | None:
    for line in (cause.message, *(reversed(last[-_MAX_ADVICE:]) if not cause.type else ())):
        if name := _first_name(_LIBRARY_ADVICE, line):
            return FailureKind(MODULE_MISSING.problem(module=name))
        if name := _first_name(_PROGRAM_ADVICE, line):
            return FailureKind(PROGRAM_MISSING.problem(program=name))
    return None


def _first_name(patterns: Sequence[re.Pattern[str]], line: str) -> str:
    """The first package name in an installer command, after its options, without quotes and version; "" if
    there is none.
    """
    for pattern in patterns:
        if not (found := pattern.search(line)):
            continue
        for word in found["words"].split():
            bare = word.strip("'\"`(),.;:")
            if bare in ("-r", "--requirement"):
                break
            if bare.startswith("-"):
                continue
            name = re.match(r"@?[A-Za-z][\w./-]*", bare)
            if name and name[0].lower() not in _NO_NAMES:
                return name[0][:_MAX_NAME]
            break
    return ""


def _wrong_arguments(cause: Cause, last: Sequence[str]) -> FailureKind | None:
    usage = FailureKind(USAGE.problem())
    if cause.type == "IndexError":
        return usage if any(_ARGV.search(line) for line in last[-4:-1]) else None
    if cause.type == "TypeError" and any("ERR_PARSE_ARGS" in line for line in last):
        return usage
    if cause.type not in _PARSER_ERRORS:
        return None
    messages = (cause.message, *last[-3:])
    if any(_USAGE_ERROR.search(line.removeprefix("Error: ").removeprefix("error: ")) for line in messages):
        return usage
    return usage if any(_USAGE_LINE.match(line) for line in last) else None


def with_kind(cause: Cause | None, kind: FailureKind) -> Cause:
    """The cause with the kind's code as its type. If there is no cause, returns the code and its message."""
    if cause is None:
        return Cause(kind.problem.code, kind.problem.message(), kind.file)
    return replace(cause, type=kind.problem.code, file=cause.file or kind.file)
