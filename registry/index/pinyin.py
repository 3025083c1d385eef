"""Makes index terms from the pinyin of Chinese names and tags, so that "fapiao" finds 发票."""

import re
from collections.abc import Iterator

from registry.core import search_terms

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_MIN_SYLLABLES, _MAX_SYLLABLES = 2, 4  # of a word; single syllables would equal many words
_MAX_CHARACTERS = 40  # of a run of characters


def pinyin_terms(text: str) -> Iterator[str]:
    """Yields pinyin terms without tones: for words of two to four characters, and for each whole run of
    Chinese characters.
    """
    for run in _HAN.findall(search_terms.fold(text)):
        syllables = _syllables(run[:_MAX_CHARACTERS])
        if len(syllables) > _MAX_SYLLABLES:
            yield search_terms.stem("".join(syllables))
        for size in range(_MIN_SYLLABLES, _MAX_SYLLABLES + 1):
            for at in range(len(syllables) - size + 1):
                yield search_terms.stem("".join(syllables[at : at + size]))


def _syllables(run: str) -> list[str]:
    if len(run) < _MIN_SYLLABLES:
        return []
    from pypinyin import Style, lazy_pinyin  # 57 MB; most processes never index a Chinese name

    return lazy_pinyin(run, style=Style.NORMAL, errors="ignore")
