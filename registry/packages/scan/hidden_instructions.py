"""Checks for instructions against the user: hidden requests, secrecy, and orders to ignore rules."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache, cached_property

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.findings import Check, CheckHit, Severity
from registry.packages.scan.patterns import matches
from registry.packages.scan.text import MAX_PIECE, ScannedText, SourceLine

SECRETS = (
    r"(?:api[-_ ]?keys?|access[-_ ]?tokens?|auth(?:entication)?[-_ ]?tokens?|\btokens\b"
    r"|credentials?|passwords?|secrets\b|private keys?"
    r"|ssh keys?|seed phrases?|mnemonics?|recovery phrases?|environment variables"
    r"|env(?:ironment)? vars?|\.env\b|~/\.ssh|id_rsa|\.aws\b"
    r"|session cookies?|cookies\b|keychain|wallets?\b|system prompt|chat history|conversation (?:history|log)"
    r"|密钥|私钥|密码|口令|凭证|凭据|令牌|助记词|环境变量|钱包|系统提示词|对话记录|聊天记录)"
)
_TAKING = (
    r"(?:\b(?:read|send|post|upload|transmit|forward|exfiltrat|collect|gather|include"
    r"|append|output|print|copy|leak|steal|extract|encode"
    r"|reveal|fetch|harvest|submit)\w{0,4}\b|\bemail(?:ing)?\s+(?:it|them|all|any|the|this|these|your)\b|读取|发送|上传|提交|收集|回传|泄露|窃取|附上|输出)"
)
_SECRET, _VERB = re.compile(rf"(?i){SECRETS}"), re.compile(rf"(?i){_TAKING}")
_FORGET = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior"
    r"|above|earlier|all|any|your|system|safety)\b[^.\n]{0,30}"
    r"\b(?:instructions?|prompts?|rules|guidelines|restrictions|safeguards)\b"
    r"|(?:忽略|无视|忘记|绕过)[^。\n]{0,12}(?:之前|以上|先前|前面|所有|全部|系统|安全)[^。\n]{0,10}(?:指令|指示|提示|规则|限制|约束)"
)
_HIDES = re.compile(
    r"(?i)<!--|\[//\]:\s*#|\[comment\]:|display\s*:\s*none|font-size\s*:\s*0"
    r"|visibility\s*:\s*hidden|opacity\s*:\s*0[;\"' ]|<(?:system|important|secret|hidden"
    r"|instructions?)>|color\s*:\s*(?:white|#fff(?:fff)?|transparent)\b"
)
_HIDE_HINTS = (
    "<!--",
    "[//]:",
    "[comment]:",
    "display",
    "font-size",
    "visibility",
    "opacity",
    "<system",
    "<important",
    "<secret",
    "<hidden",
    "<instruction",
    "color",
)
_ENDS = re.compile(r"-->|</(?:div|span|p|system|important|secret|hidden|instructions?)>|\)\s*$")
_LONGEST_COMMENT = 25  # lines of a comment that are read
_MAX_DISTANCE = 160  # characters between a verb such as "send" and a secret


def look_for_hidden_requests(text: ScannedText) -> Iterator[CheckHit]:
    """Finds hidden text in prose that instructs an agent to reveal secrets or to ignore its rules."""
    if not text.is_prose:
        return
    lines = _RequestLines(text)
    for line, found in matches(text, _HIDES, *_HIDE_HINTS):
        one, start, words = line, found.start(), line.text[found.start() :]
        span = _find_request(words)
        if span is None and not _ENDS.search(line.text, start) and (number := lines.next_after(line.number)):
            one = next(text.pieces(number))
            start, words = 0, one.text
            span = _find_request(words)
        if span:
            is_tag = found.group().lower() in ("<important>", "<instructions>", "<instruction>")
            is_certain = not is_tag and _is_order(text, one, words)
            severity: Severity = "critical" if is_certain else "low"
            yield CheckHit(one, start + span[0], start + span[1], severity, is_certain)


class _RequestLines:
    """The lines of a text that request secrets. Each line is read once, however many comments start above."""

    def __init__(self, text: ScannedText) -> None:
        self._text = text

    def next_after(self, number: int) -> int | None:
        """The number of the first line with a request in the hidden text that starts in line ``number``.

        Hidden text ends with its last line, after 25 more lines, or with the text.
        """
        request = _first_after(self._requests, number)
        end = _first_after(self._ends, number) or len(self._text.rows)
        last = min(end, number + _LONGEST_COMMENT)
        return request if request and request <= last else None

    @cached_property
    def _requests(self) -> list[int]:
        rows = enumerate(self._text.rows, 1)
        return [number for number, row in rows if len(row) > 3 and _find_request(row[:MAX_PIECE])]

    @cached_property
    def _ends(self) -> list[int]:
        return [
            number for number, row in enumerate(self._text.rows, 1) if row and _ENDS.search(row[:MAX_PIECE])
        ]


def _first_after(numbers: list[int], number: int) -> int | None:
    index = bisect_right(numbers, number)
    return numbers[index] if index < len(numbers) else None


def _find_request(words: str) -> tuple[int, int] | None:
    """Start and end of the first request for secrets or to ignore rules; None without one.

    Secrets are looked up instead of searched again for each verb, which a hostile text would make quadratic.
    """
    secrets = {secret.start(): secret.end() for secret in _overlapping(_SECRET, words)}
    starts = [*secrets, sys.maxsize]
    for verb in _overlapping(_VERB, words) if secrets else ():
        start = starts[bisect_left(starts, verb.end())]
        if start <= verb.end() + _MAX_DISTANCE:
            return verb.start(), secrets[start]
    forgets = _FORGET.search(words)
    return forgets.span() if forgets else None


def _overlapping(pattern: re.Pattern[str], words: str) -> Iterator[re.Match[str]]:
    found = pattern.search(words)
    while found:
        yield found
        found = pattern.search(words, found.start() + 1)


def _is_order(text: ScannedText, line: SourceLine, words: str) -> bool:
    """Whether the hidden words or the text nearby give an order. Merely naming a key is harmless."""
    near = text.around(line, before=3, after=3)
    return bool(_FORGET.search(words) or _SENT.search(near) or _AGENT.search(near))


_SENT = re.compile(
    r"(?i)https?://|\b(?:send|post|upload|transmit|exfiltrat|forward|curl)\w{0,5}\b|\bemail(?:ing)?\s+\w|发送|上传|提交|回传"
)
_AGENT = re.compile(
    r"(?i)\b(?:agent|assistant|claude|gpt|model|llm|ai)\b[^\n]{0,40}(?::|must|should|please|read|send)|助手|智能体"
)


_CONCEALS = re.compile(
    r"(?i)\b(?:do\s+not|don'?t|never|must\s+not|should\s+not)\s+(?:ever\s+)?(?:tell|inform"
    r"|notify|alert|mention|reveal|disclose|warn|show)\b"
    r"[^.\n]{0,60}?\b(?:user|human|owner|operator|anyone)\b"
    r"|(?:不要|别|勿|不得|禁止|无需|不能|不可)(?:告诉|告知|通知|提醒|警告|提示|透露|让)[^。\n]{0,12}?(?:用户|使用者|主人|任何人|对方)"
    r"|\bwithout\s+(?:telling|informing|notifying|alerting|mentioning"
    r"|asking)\b[^.\n]{0,40}?\b(?:user|human|owner)\b"
    r"|\b(?:silently|secretly|covertly|quietly)\s+(?:send|upload|copy|transmit|post"
    r"|forward|collect|exfiltrate|run|execute|install)"
    r"|(?:悄悄|偷偷|暗中|秘密)(?:地)?(?:发送|上传|收集|执行|运行|读取|复制|安装)"
)
_CONCEAL_HINTS = (
    "do not",
    "don't",
    "dont",
    "never",
    "must not",
    "should not",
    "without",
    "silently",
    "secretly",
    "covertly",
    "quietly",
    "不要",
    "别",
    "勿",
    "不得",
    "禁止",
    "无需",
    "不能",
    "不可",
    "悄悄",
    "偷偷",
    "暗中",
    "秘密",
)
_NEGATED = re.compile(r"(?i)\b(?:never|not|n't|avoid|cannot|no)\b[^.\n]{0,80}$")
_HARM = re.compile(
    rf"(?i){_TAKING}[^\n]{{0,120}}?{SECRETS}[^\n]{{0,160}}?(?:\b(?:to|at|via)\b|https?://|到"
    rf"|至|给)|https?://[^\s]{{4,200}}/(?:collect|exfil|steal|log|beacon)"
    rf"|\bcurl\b[^\n]{{0,80}}(?:-d|--data|-F|-X\s*POST)[^\n]{{0,200}}(?:@|\$\()|(?:上传|发送"
    rf"|回传)[^\n]{{0,40}}{SECRETS}|{SECRETS}[^\n]{{0,40}}(?:上传|发送|回传)"
)


def look_for_secrecy(text: ScannedText) -> Iterator[CheckHit]:
    """Finds instructions to hide something from the user. A hit is certain if secrets are sent nearby."""
    if not text.is_prose and not text.path.startswith(("prompts/", "references/")):
        return
    is_harmful = cache(lambda row: bool(_HARM.search(row)))  # each line once, however many hits are near
    for line, found in matches(text, _CONCEALS, *_CONCEAL_HINTS):
        phrase = found.group().lower()
        if phrase.startswith("without") and _NEGATED.search(line.text[: found.start()]):
            continue
        is_certain = any(map(is_harmful, text.around(line, before=4, after=4).split("\n")))
        yield CheckHit(line, found.start(), found.end(), "critical" if is_certain else "low", is_certain)


def look_for_forgetting(text: ScannedText) -> Iterator[CheckHit]:
    """Finds orders to ignore the agent's earlier instructions."""
    if text.is_prose:
        for line, found in matches(text, _FORGET, *_FORGET_HINTS):
            yield CheckHit(line, found.start(), found.end(), "medium")


_FORGET_HINTS = ("ignore", "disregard", "forget", "override", "bypass", "忽略", "无视", "忘记", "绕过")

CHECKS = (
    Check(
        "hidden-request",
        _("A hidden comment or tag asks the agent to reveal secrets or ignore its rules."),
        _("Remove the text, or write it where readers can see it."),
        look_for_hidden_requests,
        _HIDE_HINTS,
        is_instruction=True,
    ),
    Check(
        "conceal-from-user",
        _("The skill instructs the agent to hide something from its user."),
        _("Remove the instruction, or explain in the skill what is hidden from the user and why."),
        look_for_secrecy,
        _CONCEAL_HINTS,
        is_instruction=True,
    ),
    Check(
        "forget-rules",
        _("The skill instructs the agent to ignore its earlier instructions."),
        _("Remove the instruction; if it is an example, put it into quotes or a code block."),
        look_for_forgetting,
        _FORGET_HINTS,
        is_instruction=True,
    ),
)
