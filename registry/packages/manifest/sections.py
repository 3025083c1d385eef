"""Reads the Markdown of a skill: headings, sections of the ApexBridge profile, and declared scripts."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

_MAX_HEADINGS = 2_000
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DECLARED = re.compile(r"\s*[-*+]\s+`?([^\W_][\w.-]*)`?\s*(?:[:：#—(-].*)?$")

_COMMAND = re.compile(
    r"^```![ \t]*\n(?P<block>(?:(?!```)[^\n]*\n)+)```[ \t]*$"
    r"|(?<!`)(?P<span>(?P<ticks>`{2,})(?!`)[^\n]{0,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![`A-Za-z0-9_])!`(?P<line>[^`\n]+)`",
    re.MULTILINE,
)
_MAX_PER_HEADING = 2  # sections that one heading counts for


@dataclass(frozen=True)
class Heading:
    line: int  # from 1
    level: int
    text: str


@dataclass(frozen=True)
class Section:
    """A section of the ApexBridge profile: its English and Chinese names, and a pattern for its heading."""

    name: str
    chinese: str
    pattern: re.Pattern[str]
    required: bool = True


def _section(name: str, chinese: str, words: str, *, required: bool = True) -> Section:
    return Section(name, chinese, re.compile(rf"(?i)(?:{words})"), required)


DESCRIPTION = _section(
    "Description",
    "描述",
    r"描述|简介|^(?:技能|功能|使用)?说明$|概述|^介绍|\bdescription\b|\boverview\b|\babout\b",
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
    """Yields the number (from 1) and the text of each line outside code fences."""
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
    """The first 2,000 headings (``#`` to ``######``) outside code fences."""
    matches = ((number, _HEADING.match(line)) for number, line in prose(text) if line.lstrip(" ")[:1] == "#")
    found = (Heading(number, len(match[1]), match[2].rstrip(" \t#")) for number, match in matches if match)
    return tuple(islice(found, _MAX_HEADINGS))


def find_sections(text: str) -> dict[str, Heading]:
    """The first heading of each section, by section name.

    One heading counts for at most two sections, such as "Inputs and outputs". The title, which is the only
    heading of level 1, counts for none.
    """
    found: dict[str, Heading] = {}
    all_headings = headings(text)
    titles = [heading for heading in all_headings if heading.level == 1]
    for heading in all_headings:
        if titles != [heading]:
            named = [one.name for one in SECTIONS if one.pattern.search(heading.text)]
            found |= {name: heading for name in named[:_MAX_PER_HEADING] if name not in found}
    return found


def find_commands(text: str) -> Iterator[re.Match[str]]:
    """Yields the commands of a prompt: the group ``line`` of ``!`command` ``, or ``block`` of a fence.

    Code spans in double backticks, and spans that directly follow a word or another span, count as text.
    """
    return (match for match in _COMMAND.finditer(text) if not match["span"])


def find_declared_scripts(text: str) -> tuple[tuple[str, int], ...]:
    """The script ids in lists under a ``Scripts`` or ``脚本`` heading, each with its line number from 1.

    Lists in code fences count too.
    """
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


@dataclass(frozen=True)
class PhaseScript:
    """A script id on one line of a phase file; ``missing`` is True if the package has no such script."""

    id: str
    line: int
    missing: bool


@dataclass(frozen=True)
class Phase:
    """A phase file with its first scripts; ``omitted`` is the number of further ones."""

    path: str
    scripts: tuple[PhaseScript, ...]
    omitted: int = 0


def is_phase(path: str) -> bool:
    return path.partition("/")[0] in _PHASE_FOLDERS and path.endswith(".md")


def find_phases(paths: Collection[str], read: Callable[[str], bytes]) -> tuple[tuple[Phase, ...], int]:
    """The first phase files of a package, sorted, and the number of further ones.

    ``read`` returns a file's bytes. A declared id may have the extension of its file in ``scripts/``.
    """
    files = {path.removeprefix("scripts/") for path in paths if path.startswith("scripts/")}
    ids = files | {file.rpartition(".")[0] for file in files}
    phase_paths = sorted(filter(is_phase, paths))
    phases, left = [], _MAX_PHASE_SCRIPTS
    for path in phase_paths[:_MAX_PHASES]:
        declared = find_declared_scripts(read(path)[:_MAX_PHASE_BYTES].decode("utf-8-sig", "replace"))
        listed = tuple(PhaseScript(id, line, id not in ids) for id, line in declared[:left])
        phases.append(Phase(path, listed, omitted=len(declared) - len(listed)))
        left -= len(listed)
    return tuple(phases), len(phase_paths[_MAX_PHASES:])


def find_specs(paths: Iterable[str]) -> tuple[str, ...]:
    """The first documents in ``specs/``, sorted."""
    return tuple(sorted(p for p in paths if p.startswith("specs/") and p.endswith(".md")))[:_MAX_PHASES]


_PHASE_FOLDERS = {"phases", "actions"}
_MAX_PHASES, _MAX_PHASE_SCRIPTS = 100, 300  # files, and scripts of all these files together
_MAX_PHASE_BYTES = 262_144  # per file
