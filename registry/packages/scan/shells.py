"""Checks for commands that let others control a machine: piped downloads, encoded or reverse shells."""

import re
from collections.abc import Iterator
from itertools import islice

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.addresses import HostKind, address_in, host_kind
from registry.packages.scan.findings import Check, CheckHit, Severity
from registry.packages.scan.patterns import matches
from registry.packages.scan.text import ScannedText, SourceLine

_SHELL = r"(?:(?:ba|z|da|k|c|fi)?sh|python3?|perl|ruby|node|pwsh|powershell)\b"
_SUDO = (
    r"(?:sudo\s+(?:-\w+\s+){0,3})?(?:env\s+)?(?:\w{1,40}=\S{0,80}\s+){0,3}(?:/usr/bin/env\s+|/(?:usr/)?bin/)?"
)
_FETCH = re.compile(r"(?i)\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch)\b")
_INTO_SHELL = re.compile(
    rf"(?i)\|\s*{_SUDO}{_SHELL}(?!\s+-[cm]\b|\s*\.|\.)|\|\s*iex\b|\|\s*invoke-expression\b"
)
_AROUND = re.compile(
    r"(?i)(?:\b(?:sh|bash|zsh)\s+-\w{0,4}c\s+|\beval\s+|\bsource\s+|\b(?:ba|z)?sh\s+)[\"']?(?:\$\(|<\(|`)\s*"
    r"(?:curl|wget)\b|\biex\b[^|\n]{0,60}(?:iwr|irm|webrequest|restmethod|downloadstring)"
)
_THEN_RUN = re.compile(
    r"(?i)chmod\s+(?:\+x|[0-7]{3,4}\b)|(?:&&|;)\s*(?:sudo\s+)?(?:(?:ba|z)?sh|python3?)\s+\S|(?:&&|;)\s*\./\w"
)
_FETCHES = 10  # fetch commands checked per line
_WORST: tuple[Severity, bool] = ("critical", True)
_SEVERITY: dict[HostKind, tuple[Severity, bool]] = {
    "bare": _WORST,
    "plain": ("medium", False),
    "other": ("low", False),
}


def look_for_piped(text: ScannedText) -> Iterator[CheckHit]:
    """Finds ``curl … | sh`` and its variants. The severity depends on ``host_kind``.

    Ignores downloads from hosts in INSTALLERS, from this machine, private networks and placeholders, and
    commands without an address.
    """
    for line in text.lines_with(
        (
            "curl",
            "wget",
            "iwr",
            "irm",
            "webrequest",
            "restmethod",
            "downloadstring",
        )
    ):
        found = _AROUND.finditer(line.text), _FETCH.finditer(line.text)
        for fetch in (*islice(found[0], _FETCHES), *islice(found[1], _FETCHES)):
            if verdict := _fetch_severity(text, line, fetch):
                yield CheckHit(line, fetch.start(), fetch.end(), *verdict)


def _fetch_severity(
    text: ScannedText, line: SourceLine, fetch: re.Match[str]
) -> tuple[Severity, bool] | None:
    command = line.text[fetch.start() : fetch.start() + 700]
    around = fetch.re is _AROUND
    shell = _INTO_SHELL.search(command)
    address = address_in(command[: shell.start()] if shell and not around else command)
    verdict = _SEVERITY.get(host_kind(address)) if address else None
    is_run = around or shell or (verdict == _WORST and _THEN_RUN.search(text.around(line, after=2)))
    return verdict if is_run else None


_DECODED = re.compile(
    rf"(?i)(?:base64\s+(?:-d|--decode|-di)\b|openssl\s+(?:enc\s+)?-?base64\s+-d|xxd\s+-r\b"
    rf"|certutil\s+-decode)[^|\n]{{0,120}}"
    rf"\|\s*{_SUDO}{_SHELL}"
)
_IN_BRACES = re.compile(
    r"(?i)(?:\beval|\b(?:ba|z)?sh\s+-\w{0,4}c)\s+[\"']?(?:\$\(|`)[^)`\n]{0,1500}base64\s+(?:-d|--decode)"
)
_EXECUTED = re.compile(
    r"(?i)\b(?:exec|eval|compile|__import__\([\"']os[\"']\)\.system|os\.system"
    r"|subprocess\.\w{2,12}|new\s+Function|Function|child_process"
    r"|execSync)\s*\(.{0,120}?(?:b64decode|base64\.decode|atob\s*\(|fromhex|unhexlify"
    r"|codecs\.decode|zlib\.decompress"
    r"|Buffer\.from\([^)\n]{0,1500}(?:base64|hex))"
)
_POWERSHELL = re.compile(
    r"(?i)\bpowershell(?:\.exe)?\b[^\n]{0,120}\s-e(?:nc|ncodedcommand|c)?\s+[\"']?[A-Za-z0-9+/=]{40}"
)
_LITERAL = re.compile(r"[A-Za-z0-9+/=_-]{24}|(?:\\x[0-9a-fA-F]{2}){8}")


def look_for_encoded(text: ScannedText) -> Iterator[CheckHit]:
    """Finds content that is decoded and run at once. Certain if encoded data is on the same line."""
    for pattern in (_DECODED, _IN_BRACES, _EXECUTED, _POWERSHELL):
        for line, found in matches(
            text, pattern, "base64", "b64", "atob", "hex", "xxd", "decode", "powershell"
        ):
            literal = bool(_LITERAL.search(line.text.replace("base64.b64decode", "")))
            yield CheckHit(line, found.start(), found.end(), "critical" if literal else "medium", literal)


_REVERSE = re.compile(
    r"(?i)(?:\bbash|\bsh|\bzsh|exec\b|0<&|>&|<>)[^\n]{0,80}/dev/(?:tcp|udp)/(?P<tcp>[^/\s\"']{1,200})/"
    r"|\bn(?:c|cat|etcat)(?:\.traditional"
    r"|\.exe)?\b(?:\s+-\w+){0,4}\s+(?P<nc>[\w.${}<>-]{3,200})\s+\d{2,5}\s+-(?:e|c)\s"
    r"|\bn(?:c|cat|etcat)(?:\.traditional|\.exe)?\b(?:\s+-\w+){0,3}\s+-(?:e"
    r"|c)\s*\S{2,40}\s+(?P<nce>[\w.${}<>-]{3,200})\s+\d{2,5}"
    r"|\bmkfifo\b[^\n]{0,160}\|\s*(?:nc|ncat"
    r"|openssl\s+s_client)\b[^\n]{0,60}?(?P<fifo>(?:\d{1,3}\.){3}\d{1,3}"
    r"|[\w-]{1,63}\.[\w.-]{2,200})"
    r"|\bsocat\b[^\n]{0,120}\bexec:[^\n]{0,80}\btcp[46]?:(?P<socat>[\w.-]{3,200}):\d"
    r"|\bsocat\b[^\n]{0,40}\btcp[46]?:(?P<socat2>[\w.-]{3,200}):\d{2,5}[^\n]{0,40}\bexec:"
    r"|New-Object\s+(?:System\.)?Net\.Sockets\.TCPClient\([\"'](?P<ps>[\w.-]{3,200})[\"']"
    r"|fsockopen\([\"'](?P<php>[\w.-]{3,200})[\"'][^\n]{0,120}(?:exec|shell_exec|proc_open|/bin/sh)"
)
_CONNECT = re.compile(
    r"\.connect\(\s*\(\s*[\"'](?P<host>[\w.-]{3,200})[\"']"
    r"|\.connect\(\s*\d{2,5}\s*,\s*[\"'](?P<node>[\w.-]{3,200})[\"']"
)
_HANDED = re.compile(
    r"dup2\(|pty\.spawn\(|(?:/bin/(?:ba|z)?sh|cmd\.exe)[\"'][^\n]{0,60}(?:stdin|stdout"
    r"|pipe)|spawn\([\"'](?:/bin/)?(?:ba)?sh"
)


def look_for_reverse_shells(text: ScannedText) -> Iterator[CheckHit]:
    for line, found in matches(
        text, _REVERSE, "/dev/tcp", "/dev/udp", "nc", "socat", "mkfifo", "tcpclient", "fsockopen"
    ):
        host = next(filter(None, found.groupdict().values()), "")
        if _is_remote_host(host):
            yield CheckHit(line, found.start(), found.end(), "critical", True)
    for line, found in matches(text, _CONNECT, ".connect("):
        host = found["host"] or found["node"]
        if _is_remote_host(host) and _HANDED.search(text.around(line, before=3, after=8)):
            yield CheckHit(line, found.start(), found.end(), "critical", True)


def _is_remote_host(host: str) -> bool:
    """Whether the host is remote: not this machine, a private network or a placeholder, as in examples."""
    return host_kind(f"tcp://{host}") != "own"


CHECKS = (
    Check(
        "pipe-to-shell",
        _("The skill runs a download directly, without checking it."),
        _("Download the script, verify its digest, then run it; or install it with a package manager."),
        look_for_piped,
        ("curl", "wget", "iwr", "irm", "webrequest", "restmethod", "downloadstring"),
    ),
    Check(
        "encoded-shell",
        _("The skill decodes and runs encoded content, which hides its effect from readers."),
        _("Write the commands as plain text."),
        look_for_encoded,
        ("base64", "b64", "atob", "hex", "xxd", "decode", "powershell"),
    ),
    Check(
        "reverse-shell",
        _("The skill gives another machine shell access to the machine that runs the skill."),
        _("Remove the command. In teaching material, use 127.0.0.1 or a placeholder instead of a real host."),
        look_for_reverse_shells,
        (
            "/dev/tcp",
            "/dev/udp",
            "nc ",
            "ncat",
            "netcat",
            "socat",
            "mkfifo",
            "tcpclient",
            "fsockopen",
            ".connect(",
        ),
    ),
)
