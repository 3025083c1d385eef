"""Splits the text of a file into pieces of bounded length, and classifies its lines as prose or code."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

MAX_SCANNED = 256 * 1024  # bytes per file
MAX_PIECE = 2_000  # characters that a check reads at once
MAX_QUOTE = 160  # characters per quote
_OVERLAP = 200  # characters shared by two consecutive pieces of a long line
_PROSE = frozenset({"", "md", "mdx", "markdown", "txt", "rst", "adoc", "html", "htm"})
_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
_COMMENTS = {
    "#": "py sh bash zsh rb pl ps1 r yaml yml toml ini cfg",
    "//": "js mjs cjs ts tsx jsx go rs java c cpp cs",
}
_COMMENT_MARK = {suffix: mark for mark, suffixes in _COMMENTS.items() for suffix in suffixes.split()}
_OTHER_LINE_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\ud800-\udfff]"
)


@dataclass(frozen=True)
class SourceLine:
    number: int  # line number, from 1
    text: str  # at most MAX_PIECE characters


@dataclass(frozen=True)
class ScannedText:
    """The text of the first MAX_SCANNED bytes of a file. Line numbers start at 1."""

    path: str
    raw: str

    @cached_property
    def lower_case(self) -> str:
        return self.raw.lower()

    @cached_property
    def rows(self) -> list[str]:
        return self.raw.split("\n")

    @cached_property
    def suffix(self) -> str:
        name = self.path.rpartition("/")[2]
        return name.rpartition(".")[2].lower() if "." in name else ""

    @cached_property
    def is_prose(self) -> bool:
        return self.suffix in _PROSE and not self.raw.startswith("#!")

    def pieces(self, number: int) -> Iterator[SourceLine]:
        """Yields the line with this number in overlapping pieces of at most MAX_PIECE characters."""
        row = self.rows[number - 1]
        for start in range(0, max(len(row) - _OVERLAP, 1), MAX_PIECE - _OVERLAP):
            yield SourceLine(number, row[start : start + MAX_PIECE])

    def lines_with(self, hints: Iterable[str]) -> Iterator[SourceLine]:
        """Yields the pieces of the lines that contain one of the hints. Hints must be lower case."""
        starts = self._starts
        numbers: set[int] = set()
        for hint in hints:
            at = self.lower_case.find(hint)
            while at >= 0:
                number = bisect_right(starts, at)
                numbers.add(number)
                at = self.lower_case.find(hint, starts[number]) if number < len(starts) else -1
        for number in sorted(numbers):
            yield from self.pieces(number)

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line in ``lower_case``, a text that may be longer than ``raw``."""
        lengths = (len(row) + 1 for row in self.lower_case.split("\n"))
        return [0, *accumulate(lengths)][:-1]

    def around(self, line: SourceLine, *, before: int = 0, after: int = 0) -> str:
        """The text of the line, with ``before`` lines above and ``after`` lines below it.

        Each of these lines is cut to MAX_PIECE characters.
        """
        above = self.rows[max(line.number - 1 - before, 0) : line.number - 1]
        below = self.rows[line.number : line.number + after]
        return "\n".join(
            (*(row[:MAX_PIECE] for row in above), line.text, *(row[:MAX_PIECE] for row in below))
        )

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether a line of the text, cut to MAX_PIECE characters, matches. Each pattern is searched once."""
        if pattern not in self._searched:
            self._searched[pattern] = any(pattern.search(row[:MAX_PIECE]) for row in self.rows)
        return self._searched[pattern]

    @cached_property
    def _searched(self) -> dict[re.Pattern[str], bool]:
        return {}

    def is_quoted(self, line: SourceLine) -> bool:
        return self.is_prose and self.rows[line.number - 1].lstrip()[:1] == ">"

    def is_fenced(self, line: SourceLine) -> bool:
        return bool(self._fences[line.number - 1])

    @cached_property
    def _fences(self) -> bytearray:
        """For each line, whether it is inside a code fence of a prose file."""
        inside, fence = bytearray(len(self.rows)), ""
        if self.is_prose and ("```" in self.raw or "~~~" in self.raw):
            for index, row in enumerate(self.rows):
                edge = _FENCE.match(row)
                inside[index] = bool(fence)
                fence = _fence_after(fence, edge.group(1) if edge else "")
        return inside

    def is_comment(self, line: SourceLine) -> bool:
        """Whether the language of the file never runs the line.

        Block comments do not count: a string may contain their marks, and then the line runs. For the same
        reason the line must not contain characters that only some languages treat as the end of a line.
        """
        row = self.rows[line.number - 1]
        mark = _COMMENT_MARK.get(self.suffix, "#")
        is_marked = not self.is_prose and row.lstrip(" \t").startswith(mark)
        return is_marked and not (row.startswith("#!") or _OTHER_LINE_ENDS.search(row))


def _fence_after(fence: str, edge: str) -> str:
    """The marker of the code fence that is open after a line, or "".

    ``fence`` is the marker that was open before it, ``edge`` the marker on it.
    """
    if not edge:
        return fence
    if not fence:
        return edge
    return "" if edge[0] == fence[0] and len(edge) >= len(fence) else fence


def read_text(path: str, data: bytes) -> ScannedText:
    return ScannedText(path, data[:MAX_SCANNED].decode("utf-8-sig", "replace").replace("\r\n", "\n"))


def quote(text: str, start: int, end: int) -> str:
    """At most MAX_QUOTE characters of a line around a match. Invisible characters become ``‹U+202E›``."""
    text = text.replace("\t", " ")
    whole = visible(text.strip())
    if len(whole) <= MAX_QUOTE:
        return whole
    start = max(0, start - 20)
    return visible(text[start : max(end, start + MAX_QUOTE)].strip())[:MAX_QUOTE]


def visible(text: str) -> str:
    return _INVISIBLE.sub(lambda found: f"‹U+{ord(found.group()):04X}›", text)
