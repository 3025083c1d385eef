"""Turns the TypeScript block with ``execute()`` in an old SKILL.md into a module.

``PLACEHOLDER`` is the module for packages without code.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+-]*)")
_LANGUAGES = ("typescript", "ts")
_EXPORTS_EXECUTE = re.compile(
    r"\bexport\s{1,99}(?:default\s{1,99})?(?:async\s{1,99})?(?:function|const|let)\s{1,99}execute\b"
    r"|\bexport\s{0,99}\{[^{}]{0,500}\bexecute\b|\bexport\s{1,99}default\b"
)
_DECLARES_EXECUTE = re.compile(
    r"^(?:async[ \t]{1,99})?(?:function|const|let)[ \t]{1,99}execute\b", re.MULTILINE
)
_WORD = re.compile("[A-Za-z]{2,}")
_CHINESE = re.compile("[\u4e00-\u9fff]")

PLACEHOLDER = """\
// A placeholder: the old package held no code. Write here what the skill does.
export async function execute(
  parameters: Record<string, unknown>,
  context?: { userId?: string; [key: string]: unknown },
  config?: Record<string, unknown>,
) {
  return {
    output: null,
    format: "object",
    status: "error",
    message: "This skill is not written yet: its execute() is a placeholder.",
  };
}
"""


@dataclass(frozen=True)
class Block:
    """A fenced code block. Lines ``first`` to ``end``, counted from 0, include the fences."""

    first: int
    end: int  # index of the line after the block
    language: str
    source: str


def execute_block(text: str) -> Block | None:
    """The first TypeScript block that exports or declares ``execute()``, or None."""
    return next((block for block in _blocks(text) if _is_entry(block)), None)


def exports_execute(source: str) -> bool:
    return bool(_EXPORTS_EXECUTE.search(source))


def module_of(block: Block) -> str:
    """The source of the block as a module that exports ``execute()`` and ends with one newline."""
    source = block.source.replace("\r\n", "\n").strip("\n") + "\n"
    source = textwrap.dedent(source) if source[0] in " \t" else source
    return source if exports_execute(source) else source + "\nexport { execute };\n"


def replace_block(text: str, block: Block, path: str) -> str:
    """The text with the block replaced by a line that links to ``path``.

    The line is in Chinese if the text is mostly Chinese, otherwise in English.
    """
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines[block.first].endswith("\r\n") else "\n"
    before, after = "".join(lines[: block.first]), "".join(lines[block.end :])
    link = f"[{path}]({path})"
    notice = f"代码在 {link}。" if _is_chinese(before + after) else f"The code is in {link}."
    return f"{before}{notice}{end}{after}"


def _is_chinese(text: str) -> bool:
    """Whether the text is mostly Chinese. A Chinese character counts as half a word."""
    return len(_CHINESE.findall(text)) > 2 * len(_WORD.findall(text))


def _is_entry(block: Block) -> bool:
    return block.language in _LANGUAGES and bool(
        exports_execute(block.source) or _DECLARES_EXECUTE.search(textwrap.dedent(block.source))
    )


def _blocks(text: str) -> Iterator[Block]:
    """Yields all fenced blocks. An unclosed block extends to the end of the text."""
    lines = text.splitlines(keepends=True)
    fence, language, first = "", "", 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, language, first = mark[1], mark[2].lower(), number
        elif fence and mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            yield Block(first, number + 1, language, "".join(lines[first + 1 : number]))
            fence = ""
    if fence:
        yield Block(first, len(lines), language, "".join(lines[first + 1 :]))
