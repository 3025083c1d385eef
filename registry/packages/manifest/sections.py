"""Reads the Markdown of a skill: headings, sections of the ApexBridge profile, and declared scripts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

_MAX_HEADINGS = 2_000
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DECLARED = re.compile(r"\s*[-*+]\s+`?([A-Za-z0-9][\w.-]*)`?\s*(?:[:：#—(-].*)?$")


@dataclass(frozen=True)
class Heading:
    line: int  # from 1
    level: int
    text: str


@dataclass(frozen=True)
class Section:
    """A section of the ApexBridge profile, with its names in both languages and a pattern for its heading."""

    name: str
    chinese: str
    pattern: re.Pattern[str]
    required: bool = True


def _section(name: str, chinese: str, words: str, *, required: bool = True) -> Section:
    return Section(name, chinese, re.compile(rf"(?i)(?:{words})"), required)


DESCRIPTION = _section(
    "Description", "描述", r"描述|简介|说明$|概述|^介绍|\bdescription\b|\boverview\b|\babout\b"
)
PARAMETERS = _section("Parameters", "参数/输入", r"参数|输入|\bparam(eter)?s?\b|\binputs?\b|\barguments?\b")
OUTPUT = _section("Output", "输出", r"输出|返回|\boutputs?\b|\breturns?\b|\bresults?\b")
STEPS = _section(
    "Steps",
    "执行步骤",
    r"步骤|流程|工作流|\bsteps?\b|\bworkflow\b|\binstructions?\b|\bprocedure\b|\bprocess\b",
)
EXAMPLES = _section("Examples", "示例", r"示例|例子|样例|\bexamples?\b")
SAFETY = _section(
    "Security", "安全/合规提示", r"安全|合规|隐私|\bsecurity\b|\bsafety\b|\bcompliance\b|\bprivacy\b"
)
APPENDIX = _section("Appendix", "附录", r"附录|常见问题|\bappendi(x|ces)\b|\bfaq\b", required=False)
SCRIPTS = _section("Scripts", "脚本说明", r"脚本|\bscripts?\b", required=False)
RESOURCES = _section(
    "Resources", "资源说明", r"资源|\bresources?\b|\breferences?\b|\bassets?\b", required=False
)
SECTIONS = (DESCRIPTION, PARAMETERS, OUTPUT, STEPS, EXAMPLES, SAFETY, APPENDIX, SCRIPTS, RESOURCES)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines outside code fences, numbered from 1."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            yield number, line


def headings(text: str) -> tuple[Heading, ...]:
    """The headings (``#`` to ``######``) outside code fences, at most ``_MAX_HEADINGS``."""
    matches = ((number, _HEADING.match(line)) for number, line in prose(text) if line.lstrip(" ")[:1] == "#")
    found = (Heading(number, len(match[1]), match[2].rstrip(" \t#")) for number, match in matches if match)
    return tuple(islice(found, _MAX_HEADINGS))


def find_sections(text: str) -> dict[str, Heading]:
    """The first heading of each section, by section name. A heading may count for several sections."""
    found: dict[str, Heading] = {}
    for heading in headings(text):
        for section in SECTIONS:
            if section.name not in found and section.pattern.search(heading.text):
                found[section.name] = heading
    return found


def find_declared_scripts(text: str) -> tuple[tuple[str, int], ...]:
    """The script ids under ``## Scripts`` with their line numbers, also inside code fences."""
    found = []
    level = 0
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.match(line):
            if heading[2].strip(" \t#").lower() in ("scripts", "脚本"):
                level = len(heading[1])
            elif len(heading[1]) <= level:
                level = 0
        elif level and (match := _DECLARED.match(line)):
            found.append((match[1], number))
    return tuple(found)
