"""Reads the form of a request: negations, such as "do not summarize it, translate it", and sentences that
request nothing. "why do cats purr" contains words of skills, although no skill is wanted.
"""

import re
from collections.abc import Sequence
from enum import Enum
from itertools import islice

from registry.core import search_terms
from registry.core.search_terms import TextToken

_NEGATION_WORDS = "don dont not never need instead rather 不 勿 无 别"
_NEGATION_KEYS = frozenset(
    map(search_terms.stem, _NEGATION_WORDS.split())
)  # every negation contains one of these tokens
_MAX_NEGATIONS = 8  # per utterance
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 24, 24  # searched for a negation around such a token
_NEGATION = re.compile(
    r"""(?:
        (?:(?:^|[^\w\s]\s*)(?:please\s+|but\s+|and\s+|so\s+|just\s+)?|\b(?:please|but|and|so|just)\s+)
            (?:do\s+not|don['’]?t|never|not)
      | \b(?:do\s+not|don['’]?t|no)\s+(?:want|need|have)(?:\s+you)?\s+to
      | \b(?:instead\s+of|rather\s+than|not\s+to)
      | (?<!要)不要 | (?<!用)不用 | (?<![要需])不需要 | 不想 | 不必 | 无需 | 请勿 | 而不是
      | (?:^|[^\w]|请|千万)别
    )\s*""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_MAX_CHARACTERS = 400  # a longer text is rather material for a skill

_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？…\n]+\s*")
_SUBJECT = r"""(?:i|we|you|he|she|it|they|there|this|that|these|those|the|my|our|your|his|her|its|their
    |some(?:one|body|thing)|every(?:one|body|thing)|no(?:body|thing)|nobody)(?:['’]\w+)?"""
_STATEMENT = re.compile(
    rf"(?:(?:and|but|so|because|well|now|today|yesterday|tonight|as)\s+)*{_SUBJECT}\b",
    re.IGNORECASE | re.VERBOSE,
)
_SMALL_TALK = re.compile(
    r"(?:oh|ah|ha(?:ha)*|hey|hi|hello|yes|yeah|yep|no|nope|okay|ok|sure|thanks?|thank you"
    r"|good (?:morning|night|evening|bye)|(?:sounds|that) \w+"
    r"|sorry|well|wow|wait|bye|see you|never mind|not really|maybe|of course)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"""\b(?:want|need|please|must|should|how|what|which|where|can|could|would\s+you|help|fix|let|so\s+that
    |like\s+(?:to|you)|make|show|find|give|tell|write|create|keeps?|too|instead|has\s+to|have\s+to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_GENERAL_QUESTION = re.compile(
    r"""(?:so\s+|and\s+|but\s+)?(?:
        why\s+(?:do|does|did|is|are|was|were|can|can['’]?t)\s+(?!my\b|our\b|the\b|this\b|it\b|i\b|we\b)
      | who\s+(?:was|were|made|wrote|invented|painted|discovered|built|won|sang|said)\b
      | when\s+(?:was|were|did)\b
      | (?:where|what)\s+(?:do|does|did)\s+(?!my\b|our\b|i\b|we\b|the\b|this\b)
      | how\s+(?:are|old|far|tall|high|deep|heavy|big|large|loud|hot|cold|fast)\b
      | (?:do|did|are|were|have|will)\s+you\b
      | (?:is|are|can|do|does)\s+(?:a|an|all|it\s+(?:true|safe|normal|bad)|people|animals|humans)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_REQUEST_ZH = re.compile(
    r"帮|请|想|要|给|把|查|写|做|改|怎|如何|哪|什么|多少|能|可以|看看|看一下|有没有|是否|吗|用|让|该|下载|生成|分析|翻译|总结|整理"
    r"|(.)不\1"
)
_STATEMENT_ZH = re.compile(
    "^(?:我|你|他|她|它|咱|大家|谁都|这|那)|(?:了|啊|呀|啦|吧|哦|呢)$|真|太|好[\u4e00-\u9fff]啊"
)
_GENERAL_QUESTION_ZH = re.compile(
    "为什么(?!我|这|它|报)|为啥|^谁是|谁(?:写|画|发明|发现)|哪(?:一)?年|有多[\u4e00-\u9fff]|^你(?:是|在|喜欢|会|有|觉得|叫)"
    "|什么时候(?:熟|开花)|能吃吗"
)


def negated_offsets(utterance: str, tokens: Sequence[TextToken]) -> set[int]:
    """The offsets in the utterance where a negated part starts."""
    marks = islice((token for token in tokens if token.key in _NEGATION_KEYS), _MAX_NEGATIONS)
    return {
        found.end()
        for mark in marks
        for found in _NEGATION.finditer(
            utterance, max(0, mark.start - _CHARACTERS_BEFORE), mark.end + _CHARACTERS_AFTER
        )
    }


class SentenceForm(Enum):
    KEYWORDS = "keywords"  # one or two concepts and no other word
    STATEMENT = "statement"  # tells something, or is small talk
    GENERAL_QUESTION = "general question"  # about the world or the assistant, not about the user's work
    OTHER = "other"


def sentence_form(utterance: str, *, is_keywords: bool) -> SentenceForm:
    """The form of an utterance. A sentence with a request word, such as *help*, does not count as a
    statement.
    """
    if is_keywords:
        return SentenceForm.KEYWORDS
    text = utterance[:_MAX_CHARACTERS].strip()
    if _GENERAL_QUESTION.match(text) or _GENERAL_QUESTION_ZH.search(text):
        return SentenceForm.GENERAL_QUESTION
    clauses = [each for each in _CLAUSE_END.split(text) if each]
    return SentenceForm.STATEMENT if all(map(_states, clauses)) else SentenceForm.OTHER


def _states(clause: str) -> bool:
    if search_terms.has_cjk(clause):
        return bool(_STATEMENT_ZH.search(clause)) and not _REQUEST_ZH.search(clause)
    return bool(_STATEMENT.match(clause) or _SMALL_TALK.match(clause)) and not _REQUEST.search(clause)
