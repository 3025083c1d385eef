"""Source code with its parts marked, a line at a time; bounded, since lexers can be made slow on purpose."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import cache
from io import StringIO
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

from portal.showing.texts import mark_hidden

MOST_CHARACTERS = 100_000  # of a highlighted text; longer ones are shown plain
LONGEST_LINE = 2_000
LONGEST_S = 0.4  # of CPU time; the text is shown plain after that
_LANGUAGES = {
    "bash": "bash", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "console",
    "py": "python", "python": "python", "js": "javascript", "javascript": "javascript", "mjs": "javascript",
    "ts": "typescript", "typescript": "typescript", "tsx": "typescript", "json": "json",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "sql": "sql", "html": "html", "xml": "xml",
    "css": "css", "diff": "diff", "md": "markdown", "markdown": "markdown", "go": "go",
    "rust": "rust", "rs": "rust",
}  # fmt: skip


Part = tuple[Any, str]  # Pygments' token type, and the characters of it


@cache
def _lexer(language: str) -> Lexer | None:
    name = _LANGUAGES.get(language.lower())
    return get_lexer_by_name(name, stripnl=False, ensurenl=False) if name else None


def language_of(path: str) -> str:
    """The language by the file's extension, "" where it is none of ours."""
    extension = path.rpartition(".")[2].lower()
    return extension if extension in _LANGUAGES else ""


def highlighted_block(code: str, language: str) -> str:
    """A ``<pre>`` of the code, "" where there is nothing to highlight."""
    html = _html(code, language)
    return f'<pre class="hl" tabindex="0"><code>{html}</code></pre>' if html else ""


def lines(text: str, language: str) -> list[SafeString]:
    """The text's lines as harmless HTML, hidden characters shown."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    html = _html(text, language) or escape(text)
    return [mark_safe(mark_hidden(line)) for line in html.split("\n")]


def _html(code: str, language: str) -> str:
    """Pygments' HTML, in which no element crosses a line; "" where the text is not to be lexed."""
    lexer = _lexer(language.split(" ")[0][:20])
    if lexer is None or len(code) > MOST_CHARACTERS or max(map(len, code.split("\n"))) > LONGEST_LINE:
        return ""
    html = StringIO()
    try:
        HtmlFormatter(nowrap=True).format(_patiently(lexer.get_tokens(code)), html)
    except _TooSlow:
        return ""
    return html.getvalue().removesuffix("\n")


class _TooSlow(Exception):
    """The text is one that its lexer needs very long for, as 50,000 comments that never end."""


def _patiently(tokens: Iterable[Part]) -> Iterator[Part]:
    """The tokens, while they come within the CPU time that a text may take."""
    until = time.thread_time() + LONGEST_S
    for token in tokens:
        if time.thread_time() > until:
            raise _TooSlow
        yield token
