"""Code blocks of the source documents, taken from them as they stand."""

from __future__ import annotations

import re


def blocks(text, language):
    """The fenced blocks of this language."""
    return re.findall(rf"```{language}\s(.*?)```", text, re.DOTALL)


def block(text, language, holds):
    """The first of them that holds this."""
    return next(one for one in blocks(text, language) if holds in one)


def broken(code, starts):
    """Code whose line breaks the copy of document A has lost: before each start a break and its indent."""
    for start, indent in starts:
        assert start in code, start
        code = re.sub(
            rf"\s*(?<![\w.\"]){re.escape(start)}", f"\n{' ' * indent}{start}".replace("\\", r"\\"), code
        )
    return code.strip() + "\n"
