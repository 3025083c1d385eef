"""Splits the text of a file into bounded lines, which checks can classify as prose, quote or code."""

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
_CONTEXT_LINES = 4  # lines before a line that may introduce it as an example
_PROSE = frozenset({"", "md", "mdx", "markdown", "txt", "rst", "adoc", "html", "htm"})
_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s")
_COMMENT = ("#", "//", "/*", "*", "--", ";", "<!--")
_INVISIBLE = re.compile(
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
class SourceLine:
    number: int  # line number, from 1
    text: str  # at most MAX_PIECE characters


@dataclass(frozen=True)
class ScannedText:
    """The first MAX_SCANNED bytes of a file."""

    path: str
    raw: str
    about_security: bool = False  # the package describes attacks as its subject

    @cached_property
    def lower_case(self) -> str:
        return self.raw.lower()

    @cached_property
    def rows(self) -> list[str]:
        return self.raw.split("\n")

    @cached_property
    def is_prose(self) -> bool:
        name = self.path.rpartition("/")[2]
        suffix = name.rpartition(".")[2].lower() if "." in name else ""
        return suffix in _PROSE and not self.raw.startswith("#!")

    def pieces(self, number: int) -> Iterator[SourceLine]:
        """Yields the overlapping pieces of a line, at most MAX_PIECE characters each."""
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
        """The line with its neighbours, at most MAX_PIECE characters of each."""
        above = self.rows[max(line.number - 1 - before, 0) : line.number - 1]
        below = self.rows[line.number : line.number + after]
        return "\n".join(
            (*(row[:MAX_PIECE] for row in above), line.text, *(row[:MAX_PIECE] for row in below))
        )

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
        return not self.is_prose and self.rows[line.number - 1].lstrip().startswith(_COMMENT)

    def describes_attacks(self, line: SourceLine) -> bool:
        """Whether the line, the text just before it or its headings describe it as an example of harm."""
        if _ATTACKS.search(self.around(line, before=_CONTEXT_LINES)):
            return True
        if not self.is_prose:
            return False
        return any(_ATTACKS.search(words) for words in (self._before_fence(line), *self._headings(line)))

    def _before_fence(self, line: SourceLine) -> str:
        """The text just above the code fence that contains the line."""
        number = line.number
        while number > 1 and self._fences[number - 1]:
            number -= 1
        return self.around(SourceLine(number, ""), before=_CONTEXT_LINES) if self.is_fenced(line) else ""

    def _headings(self, line: SourceLine) -> Iterator[str]:
        """Yields the headings of the line's section and of its enclosing sections."""
        depth = 7
        for index in range(line.number - 2, -1, -1):
            row = self.rows[index]
            if row[:1] != "#" or self._fences[index]:
                continue
            found = _HEADING.match(row)
            if found and len(found.group(1)) < depth:
                depth = len(found.group(1))
                yield row[:MAX_PIECE]


def _fence_after(fence: str, edge: str) -> str:
    """The code fence that is open after a line, or ""."""
    if not edge:
        return fence
    if not fence:
        return edge
    return "" if edge[0] == fence[0] and len(edge) >= len(fence) else fence


def read_text(path: str, data: bytes, *, about_security: bool = False) -> ScannedText:
    return ScannedText(
        path, data[:MAX_SCANNED].decode("utf-8-sig", "replace").replace("\r\n", "\n"), about_security
    )


def is_about_security(words: str) -> bool:
    """Whether a package's description names security or attacks as its subject."""
    return bool(_SECURITY.search(words))


def quote(text: str, start: int, end: int) -> str:
    """At most MAX_QUOTE characters around a match, with invisible characters written as ``‹U+202E›``."""
    text = text.replace("\t", " ")
    whole = visible(text.strip())
    if len(whole) <= MAX_QUOTE:
        return whole
    start = max(0, start - 20)
    return visible(text[start : max(end, start + MAX_QUOTE)].strip())[:MAX_QUOTE]


def visible(text: str) -> str:
    return _INVISIBLE.sub(lambda found: f"‹U+{ord(found.group()):04X}›", text)
