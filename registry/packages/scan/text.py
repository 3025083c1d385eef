"""A file as checks read it: bounded lines that know whether they are prose, quoted or code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

LOOKED_AT = 256 * 1024  # bytes of a file
PIECE = 2_000  # characters of a line that a check reads at once
QUOTE = 160  # characters
_OVERLAP = 200  # characters that two pieces of one long line share
_NEAR = 4  # lines before, that may say what a line is an example of
_PROSE = frozenset({"", "md", "mdx", "markdown", "txt", "rst", "adoc", "html", "htm"})
_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s")
_COMMENT = ("#", "//", "/*", "*", "--", ";", "<!--")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\ud800-\udfff]"
)
_ATTACKS = re.compile(
    r"malicious|malware|attack|adversar|suspicious|exploit|vulnerab|red[- ]flags?|injection|dangerous|unsafe"
    r"|pentest|penetration test|red[- ]team|\bctf\b|payload|untrusted|exfiltrat|detect"
    r"|forbidden|anti-?pattern"
    r"|\b(?:never|do not|don't|avoid) (?:run|execut|pip|us|follow|commit|past|do|put|hard)|\bbad\b|\bthreat"
    r"|❌|🚩|🚫|⛔|恶意|攻击|可疑|注入|漏洞|危险|渗透|靶场|检测|审计|反面|错误示例|风险|禁止|切勿|不要(?:运行|执行|使用)",
    re.IGNORECASE,
)

_SECURITY = re.compile(
    r"(?i)\bsecurity\b|malicious|malware|pentest|penetration test|vulnerabilit"
    r"|prompt[- ]injection|red[- ]team|\bctf\b"
    r"|安全|渗透|漏洞|恶意|提示词?注入"
)


@dataclass(frozen=True)
class Line:
    number: int  # from 1
    text: str  # at most PIECE characters of it


@dataclass(frozen=True)
class Text:
    """The first LOOKED_AT bytes of a file."""

    path: str
    raw: str
    of_security: bool = False  # the package says that attacks are what it is about

    @cached_property
    def lowered(self) -> str:
        return self.raw.lower()

    @cached_property
    def rows(self) -> list[str]:
        return self.raw.split("\n")

    @cached_property
    def is_prose(self) -> bool:
        name = self.path.rpartition("/")[2]
        suffix = name.rpartition(".")[2].lower() if "." in name else ""
        return suffix in _PROSE and not self.raw.startswith("#!")

    def pieces(self, number: int) -> Iterator[Line]:
        """A row in pieces that a check may read at once."""
        row = self.rows[number - 1]
        for start in range(0, max(len(row) - _OVERLAP, 1), PIECE - _OVERLAP):
            yield Line(number, row[start : start + PIECE])

    def lines_with(self, hints: Iterable[str]) -> Iterator[Line]:
        """The pieces of the rows that hold one of the hints, which are written in small letters."""
        starts = self._starts
        numbers: set[int] = set()
        for hint in hints:
            at = self.lowered.find(hint)
            while at >= 0:
                number = bisect_right(starts, at)
                numbers.add(number)
                at = self.lowered.find(hint, starts[number]) if number < len(starts) else -1
        for number in sorted(numbers):
            yield from self.pieces(number)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each row begins in ``lowered``, whose letters may be more than those of ``raw``."""
        lengths = (len(row) + 1 for row in self.lowered.split("\n"))
        return [0, *accumulate(lengths)][:-1]

    def around(self, line: Line, *, before: int = 0, after: int = 0) -> str:
        """The line with its neighbours, PIECE characters of each."""
        above = self.rows[max(line.number - 1 - before, 0) : line.number - 1]
        below = self.rows[line.number : line.number + after]
        return "\n".join((*(row[:PIECE] for row in above), line.text, *(row[:PIECE] for row in below)))

    def is_quoted(self, line: Line) -> bool:
        return self.is_prose and self.rows[line.number - 1].lstrip()[:1] == ">"

    def is_fenced(self, line: Line) -> bool:
        return bool(self._fences[line.number - 1])

    @cached_property
    def _fences(self) -> bytearray:
        """For each row, whether it stands in a code fence of a page of prose."""
        inside, fence = bytearray(len(self.rows)), ""
        if self.is_prose and ("```" in self.raw or "~~~" in self.raw):
            for index, row in enumerate(self.rows):
                edge = _FENCE.match(row)
                inside[index] = bool(fence)
                fence = _fence_after(fence, edge.group(1) if edge else "")
        return inside

    def is_comment(self, line: Line) -> bool:
        return not self.is_prose and self.rows[line.number - 1].lstrip().startswith(_COMMENT)

    def speaks_of_attacks(self, line: Line) -> bool:
        """Whether the line, the headings above it or what stands just before call it an example of harm."""
        if _ATTACKS.search(self.around(line, before=_NEAR)):
            return True
        if not self.is_prose:
            return False
        return any(_ATTACKS.search(words) for words in (self._before_fence(line), *self._headings(line)))

    def _before_fence(self, line: Line) -> str:
        """What stands just above the fence that the line is in."""
        number = line.number
        while number > 1 and self._fences[number - 1]:
            number -= 1
        return self.around(Line(number, ""), before=_NEAR) if self.is_fenced(line) else ""

    def _headings(self, line: Line) -> Iterator[str]:
        """The heading of the line's section, then those of the sections around it."""
        depth = 7
        for index in range(line.number - 2, -1, -1):
            row = self.rows[index]
            if row[:1] != "#" or self._fences[index]:
                continue
            found = _HEADING.match(row)
            if found and len(found.group(1)) < depth:
                depth = len(found.group(1))
                yield row[:PIECE]


def _fence_after(fence: str, edge: str) -> str:
    """The fence that is open after a line, "" for none."""
    if not edge:
        return fence
    if not fence:
        return edge
    return "" if edge[0] == fence[0] and len(edge) >= len(fence) else fence


def read_text(path: str, data: bytes, *, of_security: bool = False) -> Text:
    return Text(path, data[:LOOKED_AT].decode("utf-8-sig", "replace").replace("\r\n", "\n"), of_security)


def says_security(words: str) -> bool:
    """Whether a package's own description says that attacks are its subject."""
    return bool(_SECURITY.search(words))


def quote(text: str, start: int, end: int) -> str:
    """At most QUOTE characters around a match, with what no reader sees written as ``‹U+202E›``."""
    text = text.replace("\t", " ")
    whole = visible(text.strip())
    if len(whole) <= QUOTE:
        return whole
    start = max(0, start - 20)
    return visible(text[start : max(end, start + QUOTE)].strip())[:QUOTE]


def visible(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"‹U+{ord(found.group()):04X}›", text)
