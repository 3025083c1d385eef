"""The limits on the content of packages and runs that a page or an API response may show.

Content beyond a limit is shown as plain text, only counted, or only offered as a download.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

MAX_BYTES = 512 * 1024  # of a file
MAX_LINES = 10_000  # lines of a file or a Markdown text
MAX_TEXT = 200_000  # characters of a text, a JSON tree, a table or a log page
MAX_CELL = 2_000  # characters of a value in a table or list
MAX_ROWS = 200  # rows of problems, findings, tags and other lists that authors and scripts write
MAX_NODES = 1_500  # values of a JSON tree, or cells of a table
MAX_PREFILL = 64 * 1024  # characters of a run's request that a form is filled with
MAX_LISTED = 20_000  # characters of a value that is read for one line of a list
MAX_COPIED_BYTES = 1_500_000  # bytes in memory of a value that is also shown as JSON to copy
MAX_TOKENS = 20_000  # elements of a parsed Markdown text, about 400 bytes each
MAX_CPU_S = 0.15  # CPU time for the Markdown and the highlighting of a page
MAX_MEMORY = 11_000_000  # bytes of memory for the values of a run's answer, in each process that reads them


class CpuTime:
    """The CPU time that a page may still spend on Markdown and highlighting, counted in its thread."""

    def __init__(self, seconds: float | None = None) -> None:
        self._deadline = time.thread_time() + (MAX_CPU_S if seconds is None else seconds)

    @property
    def is_spent(self) -> bool:
        return time.thread_time() > self._deadline

    def half(self) -> "CpuTime":
        """A new budget with half of the time that is left; does not reduce this one."""
        return CpuTime((self._deadline - time.thread_time()) / 2)


def line_limit(lengths: Sequence[int], *, longest: int, at_most: int = MAX_TEXT) -> int:
    """The number of characters to show per line, for lines with these ``lengths``.

    This is ``longest``, halved while it is above 100 and all lines together exceed ``at_most``.
    """
    while sum(min(length, longest) for length in lengths) > at_most and longest > 100:
        longest //= 2
    return longest


def memory_of(value: Any, *, limit: float) -> int:
    """An estimate of the bytes that Python needs for the structure of a JSON value, without its strings.

    Stops once the result exceeds ``limit``.
    """
    waiting, size = [value], 0
    while waiting and size <= limit:
        part = waiting.pop()
        if isinstance(part, Mapping):
            size += 64 + 120 * len(part)
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            size += 56 + 16 * len(part)
            waiting.extend(part)
        else:
            size += 30
    return size
