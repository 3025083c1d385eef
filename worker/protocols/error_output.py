"""Finds the cause of a failure in a program's output: an error of Python, JavaScript, a shell or another
language, or the last line.

Reads only the ends of the streams, and accepts any bytes, such as progress bars, colours and binary data.
Every pattern is linear in the length of a line, because the output is untrusted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.protocols.call import Cause
from worker.protocols.script_files import own_file

_MAX_BYTES = 131_072  # bytes read from the end of each stream
_MAX_LINES = 4_000
_MAX_LINE = 2_000  # characters of a line
_MAX_FRAMES = 400  # lines between an error and the start of its stack
_MAX_MESSAGE_LINES = 10
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_ENDS = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_LOG_LINE = re.compile(r"\[?(?:\d{4}-\d\d-\d\d|(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\b)")

# Python
_GROUP_MARGIN = re.compile(r"\s*(?:\+-[-+ \d.]*|[|+] ?)")
_PYTHON_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)(?:, in .*)?$')
_PYTHON_ERROR = re.compile(r"([A-Za-z_][\w.]*)(?:: ?(.*))?$")
_PYTHON_NAME = re.compile(r"(?:[A-Z]\w*|\w*(?:error|timeout))$")
# JavaScript; Deno marks and wraps its errors
_JS_FRAME = re.compile(r"\s+at (?:.*[( ])?(?:file://)?([^\s()]+):(\d+):\d+\)?(?: \{)?$")
_JS_ANY_FRAME = re.compile(r"\s+at .")
_JS_ERROR = re.compile(
    r"(?:error: )?\[?(?:Uncaught )?(?:\(in promise\) )?([A-Z][\w$]{0,80})(?: \[\w+\])?(?:: (.*?))?(?:\] \{)?$"
)
_DENO_ERROR = re.compile(r"error: (?:Uncaught )?(?:\(in promise\) )?(.+)$")
_JS_CAUSE = re.compile(r"\s*(?:\[cause\]|Caused by|cause):? (?:Uncaught )?(.+)$")
_JS_PLACE = re.compile(r"(?:file://)?(\S+):(\d+)$")
# Other languages: the message, the file and the line
_SHELL = re.compile(r"(?P<file>[^\s:]+): (?:line )?(?P<line>\d+): (?P<message>\S.*)$")
_RUBY = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+):in [^:]+: (?P<message>.*?)(?: \((?P<type>[A-Z][\w:]*)\))?$"
)
_PERL = re.compile(r"(?P<message>.+) at (?P<file>\S+) line (?P<line>\d+)\.?$")
_PHP = re.compile(
    r"(?:PHP )?(?:Fatal|Parse) error: (?P<message>.+) in (?P<file>[^\s:]+)(?: on line |:)(?P<line>\d+)$"
)
_RUST = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at (?P<file>[^\s:]+):(?P<line>\d+):\d+:$")
_STRONG = re.compile(
    r"errors?\b|exceptions?\b|fatal|\bfail(?:ed|ure)\b|panic|\babort|traceback", re.IGNORECASE
)
_WEAK = re.compile(
    r"\bcan(?:no|')t\b|could ?n[o']t|unable to|no such|not found|denied|refused|invalid|missing|killed|"
    r"^curl: \(\d+\)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\bwarn(?:ing)?s?\b|\b(?:0|no|without) (?:errors?|failures?|failed|exceptions?)\b", re.IGNORECASE
)
_NOISE = re.compile(r"Node\.js v\d|\(Use `node |note: run with `RUST_|exit status \d|npm ERR! A complete log")
_NAMED = re.compile(r"([A-Z]\w*(?:Error|Exception)): (.+)$")


@dataclass(frozen=True)
class _Found:
    """An error in the output that ends at line ``at``. If there are several, the last one is the cause."""

    at: int  # index of its line
    cause: Cause


def find_cause(stderr: bytes, stdout: bytes = b"", *, folders: Sequence[str] = ("/skill",)) -> Cause | None:
    """The cause in the output of a failed program; None if the program printed nothing.

    ``folders`` are the paths under which the package can appear; the cause's file is relative to them.
    """
    lines = read_lines(stderr)
    if cause := find_error(lines, folders) or _last_line(lines):
        return cause
    return _last_line(read_lines(stdout))


def find_error(lines: Sequence[str], folders: Sequence[str]) -> Cause | None:
    """The last error with a known form, otherwise the last line that reads like an error; None if there is
    none.

    A shell continues after an error, so a later line that reads like an error takes precedence.
    """
    found = [each for reader in (_python, _javascript) if (each := reader(lines, folders))]
    traced = max(found, key=lambda each: each.at, default=None)
    placed = _single_line(lines, folders)
    if placed and (traced is None or placed.at > traced.at):
        return _last_matching(lines[placed.at + 1 :], _STRONG) or placed.cause
    if traced:
        return traced.cause
    return _last_matching(lines, _STRONG) or _last_matching(lines, _WEAK)


def read_lines(data: bytes) -> list[str]:
    """The last lines of the output, without colours and control characters.

    Each state of a progress bar is a line.
    """
    text = _ESCAPES.sub("", data[-_MAX_BYTES:].decode("utf-8", "replace"))
    return [_printable(line[:_MAX_LINE]) for line in _ENDS.split(text)[-_MAX_LINES:]]


def _printable(line: str) -> str:
    """The line without control characters; "" for binary data."""
    if line.isprintable() and "\ufffd" not in line:
        return line.rstrip()
    text = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in line).rstrip()
    if text.count("\ufffd") * 4 > len(text):
        return ""
    return text.replace("\ufffd", "")


def _python(lines: Sequence[str], folders: Sequence[str]) -> _Found | None:
    """The last exception with a traceback; for an exception group, the group with its first exception."""
    bare = [_without_margin(line) for line in lines]
    ends = [n for n, line in enumerate(bare) if _is_exception(line)]
    frames = (n for n in range(max(ends, default=0) - 1, -1, -1) if _PYTHON_FRAME.match(bare[n]))
    at = next(frames, None)
    if at is None:
        return None
    group = _group_start(lines, at)
    if group is not None and (found := _python_group(lines, bare, group, folders)):
        return found
    end = next(n for n in ends if n > at)
    return _Found(end, _python_cause(bare, end, folders))


def _without_margin(line: str) -> str:
    margin = _GROUP_MARGIN.match(line)
    return line[margin.end() :] if margin else line


def _is_exception(line: str) -> bool:
    error = _PYTHON_ERROR.match(line)
    return bool(error and _PYTHON_NAME.match(error[1].rpartition(".")[2]))


def _python_cause(lines: Sequence[str], end: int, folders: Sequence[str]) -> Cause:
    error = _PYTHON_ERROR.match(lines[end])
    assert error
    name, message = error[1].rpartition(".")[2], _python_message(lines, end, error[2] or "")
    file, line, source = _python_place(lines, end, folders)
    return Cause(name, message or (source if name == "AssertionError" else ""), file, line)


def _python_message(lines: Sequence[str], end: int, first: str) -> str:
    message = [first]
    for line in lines[end + 1 : end + _MAX_MESSAGE_LINES]:
        if not line or _LOG_LINE.match(line) or _is_exception(line):
            break
        message.append(line)
    return "\n".join(message).strip()


def _python_place(lines: Sequence[str], end: int, folders: Sequence[str]) -> tuple[str, int | None, str]:
    """File and line of the innermost frame in the skill, and the source of the innermost frame."""
    source = ""
    for at in range(end - 1, max(-1, end - _MAX_FRAMES), -1):
        if "Traceback (most recent call last)" in lines[at]:
            break
        if frame := _PYTHON_FRAME.match(lines[at]):
            source = source or (lines[at + 1].strip() if at + 1 < end else "")
            if file := own_file(frame[1], folders):
                return file, int(frame[2]), source
    return "", None, source


def _group_start(lines: Sequence[str], at: int) -> int | None:
    for n in range(at, max(-1, at - _MAX_FRAMES), -1):
        if lines[n].lstrip().startswith("+ Exception Group Traceback"):
            return n
        if not _is_in_group(lines[n]):
            return None
    return None


def _is_in_group(line: str) -> bool:
    return line.lstrip().startswith(("|", "+"))


def _python_group(
    lines: Sequence[str], bare: Sequence[str], start: int, folders: Sequence[str]
) -> _Found | None:
    ends = [n for n in range(start + 1, len(lines)) if _is_in_group(lines[n]) and _is_exception(bare[n])]
    if not ends:
        return None
    group = _python_cause(bare, ends[0], folders)
    message = group.message.partition("\n")[0]
    if len(ends) == 1:
        return _Found(ends[0], Cause(group.type, message, group.file, group.line))
    first = next((n for n in ends[1:] if "Group" not in bare[n].partition(":")[0]), ends[1])
    inner = _python_cause(bare, first, folders)
    place = inner if inner.file else group
    message = f"{message}: {inner.type}: {inner.message}".rstrip(": ")
    return _Found(ends[-1], Cause(group.type, message, place.file, place.line))


def _javascript(lines: Sequence[str], folders: Sequence[str]) -> _Found | None:
    frames = [n for n, line in enumerate(lines) if _JS_FRAME.match(line)]
    if not frames:
        return None
    last = frames[-1]
    first = _stack_start(lines, last)
    for at in range(first - 1, max(-1, first - 40), -1):
        if cause := _javascript_error(lines[at]):
            file, line = _javascript_place(lines, at, last, folders)
            message = cause.message or next((each for each in lines[at + 1 : first] if each), "")
            return _Found(last, Cause(cause.type, _with_inner(lines, message, first, last), file, line))
    return None


def _stack_start(lines: Sequence[str], last: int) -> int:
    first = last
    for at in range(last, max(-1, last - _MAX_FRAMES), -1):
        if _JS_ANY_FRAME.match(lines[at]):
            first = at
        elif not _JS_CAUSE.match(lines[at]):
            break
    return first


def _javascript_error(line: str) -> Cause | None:
    if _JS_CAUSE.match(line):
        return None
    if error := _JS_ERROR.match(line):
        return Cause(error[1], error[2] or "")
    deno = _DENO_ERROR.match(line)
    return Cause("", deno[1]) if deno else None


def _javascript_place(
    lines: Sequence[str], at: int, last: int, folders: Sequence[str]
) -> tuple[str, int | None]:
    """File and line of the first frame in the skill.

    If there is no such frame, the place that a syntax error prints before its excerpt, if that place is in
    the skill.
    """
    around = [
        *(_JS_FRAME.match(line) for line in lines[at : last + 1]),
        *(_JS_PLACE.match(line) for line in reversed(lines[max(0, at - 8) : at])),
    ]
    for place in around:
        if place and (file := own_file(place[1], folders)):
            return file, int(place[2])
    return "", None


def _with_inner(lines: Sequence[str], message: str, first: int, last: int) -> str:
    """The message, followed by that of the innermost cause, because messages such as "fetch failed" explain
    nothing.
    """
    inner = [cause[1] for line in lines[first : last + 1] if (cause := _JS_CAUSE.match(line))]
    return f"{message} ({inner[-1].rstrip(' {')})" if inner else message


def _single_line(lines: Sequence[str], folders: Sequence[str]) -> _Found | None:
    for at in range(len(lines) - 1, -1, -1):
        if cause := _placed_error(lines, at, folders):
            return _Found(at + 2 if _RUST.match(lines[at]) else at, cause)
    return None


def _placed_error(lines: Sequence[str], at: int, folders: Sequence[str]) -> Cause | None:
    for pattern in (_RUST, _PHP, _RUBY, _SHELL, _PERL):
        if not (found := pattern.match(lines[at])):
            continue
        groups = found.groupdict()
        file = own_file(groups["file"], folders)
        if not file and pattern is not _RUST and not (pattern is _SHELL and groups["file"] in _SHELLS):
            continue
        message = groups.get("message") or next((line for line in lines[at + 1 : at + 3] if line), "panicked")
        if pattern is _SHELL:
            message = _shell_message(lines, at, found)
        return Cause(groups.get("type") or "", message.strip(), file, int(groups["line"]) if file else None)
    return None


_SHELLS = ("bash", "sh", "dash", "zsh", "/bin/sh", "/bin/bash", "/usr/bin/bash", "/usr/bin/sh")


def _shell_message(lines: Sequence[str], at: int, found: re.Match[str]) -> str:
    """The message of a shell's error. Ignores the second line of a syntax error, which shows only the
    source.
    """
    before = _SHELL.match(lines[at - 1]) if at else None
    same = before and before["line"] == found["line"] and "syntax error" in before["message"]
    return before["message"] if before and same else found["message"]


def _last_matching(lines: Sequence[str], pattern: re.Pattern[str]) -> Cause | None:
    for line in reversed(lines):
        if pattern.search(line) and not _HARMLESS.search(line) and not _NOISE.match(line):
            return _named(line)
    return None


def _last_line(lines: Sequence[str]) -> Cause | None:
    return next((_named(line) for line in reversed(lines) if line.strip() and not _NOISE.match(line)), None)


def _named(line: str) -> Cause:
    """The cause in the line, with its type if the line names one, such as in ``ValueError: no column``."""
    named = _NAMED.match(line.strip())
    return Cause(named[1], named[2]) if named else Cause("", line.strip())


def cause_in_answer(answer: Mapping[str, object]) -> Cause | None:
    """The cause in the ``error`` of an answer, which is a text or an object with ``message``; None if there
    is none.
    """
    error = answer.get("error")
    if isinstance(error, str):
        return _named(error) if error.strip() else None
    if not isinstance(error, Mapping):
        return None
    message = error.get("message")
    if not isinstance(message, str) or not message.strip():
        return None
    names = (error.get(key) for key in ("type", "name", "code"))
    return Cause(next((name for name in names if isinstance(name, str) and name), ""), message.strip())
