"""What a text says that a skill is not for: "not for …", 不用于…; such words must not ask for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENGLISH = r"""
    \b(?:
        (?:(?:is|are)n['’]?t|(?:(?:is|are)\s+)?not)\s+(?:meant|intended|suitable|suited|designed)?\s*for
      | (?:(?:do|does|should|must|can)(?:\s+not|n['’]?t)|cannot\s+be|not\s+to)\s+(?:be\s+)?
        (?:use[ds]?|trigger(?:ed)?|invoke[ds]?|activate[ds]?|apply|match|handle|support|cover)
      | not\s+(?:meant|intended|designed)\s+to
      | unsuitable\s+for
      | (?:never\s+use|avoid\s+using)
      | not\s+when
      | when\s+not\s+to\s+use
    )\b
"""
_CHINESE = (
    "(?:(?:不|不能|不可|不得|不要|不应|不应该|不建议|不推荐|请勿|勿|禁止|并非|别)(?:用于|用於|用来)"
    "|请勿使用|不适用|不適用|不适合|不適合|不支持|不触发|不要触发)"
)
_BEGINNING = re.compile(f"{_ENGLISH}|{_CHINESE}", re.IGNORECASE | re.VERBOSE)
_END = re.compile(r"[.!?](?=\s|$)|[。！？;；\n]|,?\s+but\s+(?=for\b|use\b)|，(?=而是|而用)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)
_DENYING = re.compile(rf"{_CHINESE}|\bnot\b|\bn['’]t\b|何时不", re.IGNORECASE)
_USING = re.compile(r"\buse|\bfor\b|用", re.IGNORECASE)


@dataclass(frozen=True)
class Split:
    said: str
    denied: str


def split(text: str) -> Split:
    """The text without its denials, and these: each from its first word to the end of the sentence."""
    said: list[str] = []
    denied: list[str] = []
    at = 0
    while begun := _BEGINNING.search(text, at):
        end = _END.search(text, begun.end())
        stop = end.end() if end else len(text)
        said.append(text[at : begun.start()])
        denied.append(text[begun.start() : stop])
        at = stop
    said.append(text[at:])
    return Split("\n".join(said), "\n".join(denied))


def split_body(text: str) -> Split:
    """The same of a Markdown text, in which a whole section may be about what the skill is not for."""
    said: list[str] = []
    denied: list[str] = []
    at = depth = 0
    for heading in _HEADING.finditer(text):
        (denied if depth else said).append(text[at : heading.start()])
        at = heading.start()
        if depth and len(heading[1]) > depth:
            continue
        title = heading[2]
        depth = len(heading[1]) if _DENYING.search(title) and _USING.search(title) else 0
    (denied if depth else said).append(text[at:])
    rest = split("\n".join(said))
    return Split(rest.said, "\n".join((*denied, rest.denied)))
