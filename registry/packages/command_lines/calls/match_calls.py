"""Finds which calls in a package's documents the run form can offer, and which a script's parser would
refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.packages.command_lines.calls.fitting import fits
from registry.packages.command_lines.calls.shown_calls import ShownCall, find_shown_calls
from registry.packages.command_lines.command_line import CommandLine

MAX_SAMPLES = 6  # per script
_USAGE = re.compile(r"^\W*(?:usage|synopsis|example)s?\s*:?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class MatchedCalls:
    """The result of matching: calls that the run form can show, by script path, and calls in
    code blocks that do not fit.
    """

    samples: Mapping[str, tuple[tuple[str, ...], ...]]
    refused: tuple[ShownCall, ...] = ()


def match_calls(command_lines: Mapping[str, CommandLine], documents: Mapping[str, str]) -> MatchedCalls:
    """Matches the calls in the documents with the command lines of scripts, by path.

    Calls without placeholders come first, synopses last. If the documents show no call of a script that reads
    its arguments by hand, the calls in its usage text are offered.
    """
    calls = [call for call in find_shown_calls(documents, command_lines.keys()) if call.words]
    checked = [(call, fits(command_lines[call.path], call.words)) for call in calls]
    fitting: dict[str, list[ShownCall]] = {path: [] for path in command_lines}
    for call, is_fit in checked:
        if is_fit:
            fitting[call.path].append(call)
    for path, command_line in command_lines.items():
        if not fitting[path] and command_line.kind == "line" and command_line.usage:
            fitting[path] = _calls_in_usage(path, command_line.usage)
    return MatchedCalls(
        {path: _samples(calls) for path, calls in fitting.items()},
        tuple(call for call, is_fit in checked if not (is_fit or call.is_inline or call.is_synopsis)),
    )


def _calls_in_usage(path: str, usage: str) -> list[ShownCall]:
    lines = [_USAGE.sub("", line).replace("$0", path) for line in usage.splitlines()]
    text = "\n".join(("```sh", *lines, "```"))
    return [call for call in find_shown_calls({path: text}, [path]) if call.words]


def _samples(calls: Iterable[ShownCall]) -> tuple[tuple[str, ...], ...]:
    ordered = sorted(calls, key=lambda call: (call.is_synopsis, call.is_template))
    return tuple(dict.fromkeys(call.words for call in ordered))[:MAX_SAMPLES]
