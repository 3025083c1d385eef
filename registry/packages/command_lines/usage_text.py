"""Finds the usage text in a script, as its author wrote it."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LINES = 20
_MAX_LINE = 200
_COMMENTS = ("#", "*", "/")
_BEFORE = " \t#*/\"'`"
_USAGE = re.compile(r"\b(?:usage|synopsis)\b\s*:|^\W*usage\s*$|用法|使用方法", re.IGNORECASE)
_EXAMPLES = re.compile(r"^\W*examples?\b[^:]{0,40}:|^\W*示例", re.IGNORECASE)
_HEREDOC_ENDS = ("EOF", "EOM", "END", "USAGE", "HELP")
_AROUND = re.compile(
    r"""^\s*(?:#+!?|//+|/?\*+|(?:echo|print|console\.(?:log|error)|printf)\b[\s(]*(?:-e\s+)?)?\s*f?["'`]{0,3}"""
)
_PRINT = re.compile(r"\s*(?:echo|print|printf|console|(?:sys\.|process\.)?std(?:err|out))\b")
_CLOSED = (")", ");", ";", '"', "'", ">&2", "1>&2")  # the end of a statement that prints one line
_END = re.compile(r"""(?:\\n)?["'`]{0,3}\s*(?:>&2|1>&2)?[);,]*\s*(?:\*/)?\s*$""")


def usage_text(text: str) -> str:
    """The usage, from the line that introduces it to the next empty line, with the examples below.

    At most ``MAX_LINES`` lines of each. "" if no line introduces a usage.
    """
    lines = text[:200_000].splitlines()
    usage, end = _block(lines, _USAGE)
    examples, _end = _block(lines[end : end + MAX_LINES], _EXAMPLES) if usage else ([], 0)
    return "\n".join([*usage, *examples])[:2_000]


def _block(lines: Sequence[str], announcement: re.Pattern[str]) -> tuple[list[str], int]:
    """The lines from the introducing line to the next empty one, and the number of lines read."""
    found: list[str] = []
    marks, is_printed, end = "", False, 0
    for line in lines:
        end += 1
        if not found:
            match = announcement.search(line) if len(line) <= _MAX_LINE else None
            if match is None:
                continue
            marks = line.lstrip()[:1] if line.lstrip()[:1] in _COMMENTS else ""
            is_printed = bool(_PRINT.match(line)) and line.rstrip().endswith(_CLOSED)
            line = line if not line[: match.start()].strip(_BEFORE) else line[match.start() :]
        shown = _END.sub("", _AROUND.sub("", line[:_MAX_LINE], count=1), count=1).rstrip()
        is_over = found and (
            not shown.strip()
            or line.strip() in _HEREDOC_ENDS
            or (marks and not line.lstrip().startswith(marks))
            or (is_printed and not _PRINT.match(line))
        )
        if is_over or len(found) >= MAX_LINES:
            break
        found.append(shown)
    return found, end
