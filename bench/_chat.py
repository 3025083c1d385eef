"""Sentences of chatterbot-corpus, for which no skill is wanted. See README.md."""

from __future__ import annotations

import random
import re
from pathlib import Path

_SAMPLES = {"english": ("en", 220), "chinese": ("zh", 180)}  # folder: language, number of sentences
_WORK_TOPICS = {"ai", "coding", "computers", "health", "money", "tech_support"}  # a skill may fit these
_SENTENCE = re.compile(r"\s*-\s+-?\s*(.+)$")
_CJK = re.compile("[\u4e00-\u9fff]")
_WORDS, _CHARACTERS = range(3, 15), range(4, 26)  # in a sentence, English and Chinese


def sample(folder):
    """A fixed sample of the sentences as requests without an expected skill. ``folder`` has the data."""
    dice, rows = random.Random(5), []
    for name, (language, number) in _SAMPLES.items():
        found = sorted(set(_sentences(Path(folder) / name, language)))
        rows += [
            {"query": text, "expected_slug": "", "lang": language, "split": "chat"}
            for text in dice.sample(found, number)
        ]
    return rows


def _sentences(folder, language):
    for path in sorted(folder.glob("*.yml")):
        if path.stem not in _WORK_TOPICS:
            for line in path.read_text("utf-8").splitlines():
                if found := _SENTENCE.match(line):
                    text = found[1].strip().strip("\"'")
                    if (
                        len(text.split()) in _WORDS
                        if language == "en"
                        else len(_CJK.findall(text)) in _CHARACTERS
                    ):
                        yield text
