"""Separates denials ("not for …", 不用于…) from a skill's texts, so that matches ignore the denied words."""

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
class DenialSplit:
    positive: str
    denied: str


def split_denials(text: str) -> DenialSplit:
    """The text without denials, and the denials. A denial ends with its sentence, or before a contrast such
    as "but use it for".
    """
    positive: list[str] = []
    denied: list[str] = []
    at = 0
    while opening := _BEGINNING.search(text, at):
        end = _END.search(text, opening.end())
        stop = end.end() if end else len(text)
        positive.append(text[at : opening.start()])
        denied.append(text[opening.start() : stop])
        at = stop
    positive.append(text[at:])
    return DenialSplit("\n".join(positive), "\n".join(denied))


def split_body_denials(text: str) -> DenialSplit:
    """Like ``split_denials``, for Markdown: a section with a heading such as "When not to use" is a denial as
    a whole.
    """
    positive: list[str] = []
    denied: list[str] = []
    at = depth = 0
    for heading in _HEADING.finditer(text):
        (denied if depth else positive).append(text[at : heading.start()])
        at = heading.start()
        if depth and len(heading[1]) > depth:
            continue
        title = heading[2]
        depth = len(heading[1]) if _DENYING.search(title) and _USING.search(title) else 0
    (denied if depth else positive).append(text[at:])
    rest = split_denials("\n".join(positive))
    return DenialSplit(rest.positive, "\n".join((*denied, rest.denied)))
