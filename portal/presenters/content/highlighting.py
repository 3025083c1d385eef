"""Syntax highlighting by Pygments, line by line; bounded, since crafted input makes lexers slow."""

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

from portal.presenters.content.text import mark_hidden

MAX_CHARACTERS = 100_000  # longer texts are shown plain
MAX_LINE_LENGTH = 2_000
MAX_CPU_S = 0.4  # per text, which is shown plain after that
_LANGUAGES = {
    "bash": "bash", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "console",
    "py": "python", "python": "python", "js": "javascript", "javascript": "javascript", "mjs": "javascript",
    "ts": "typescript", "typescript": "typescript", "tsx": "typescript", "json": "json",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "sql": "sql", "html": "html", "xml": "xml",
    "css": "css", "diff": "diff", "md": "markdown", "markdown": "markdown", "go": "go",
    "rust": "rust", "rs": "rust",
}  # fmt: skip


LexToken = tuple[Any, str]  # Pygments' token type and its text


@cache
def _lexer(language: str) -> Lexer | None:
    name = _LANGUAGES.get(language.lower())
    return get_lexer_by_name(name, stripnl=False, ensurenl=False) if name else None


def language_of(path: str) -> str:
    """The language by the file's extension, "" if it is not supported."""
    extension = path.rpartition(".")[2].lower()
    return extension if extension in _LANGUAGES else ""


def highlighted_block(code: str, language: str) -> str:
    """A ``<pre>`` with the highlighted code, "" if the language is unknown or the code too long."""
    html = _html(code, language)
    return f'<pre class="hl" tabindex="0"><code>{html}</code></pre>' if html else ""


def lines(text: str, language: str) -> list[SafeString]:
    """The text's lines as safe HTML, with hidden characters shown."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    html = _html(text, language) or escape(text)
    return [mark_safe(mark_hidden(line)) for line in html.split("\n")]


def _html(code: str, language: str) -> str:
    """Pygments' HTML, in which no element spans lines; "" if the text is not highlighted."""
    lexer = _lexer(language.split(" ")[0][:20])
    if lexer is None or len(code) > MAX_CHARACTERS or max(map(len, code.split("\n"))) > MAX_LINE_LENGTH:
        return ""
    html = StringIO()
    try:
        HtmlFormatter(nowrap=True).format(_limit_cpu_time(lexer.get_tokens(code)), html)
    except _TooSlow:
        return ""
    return html.getvalue().removesuffix("\n")


class _TooSlow(Exception):
    """The lexer exceeded its CPU time, as it does for 50,000 unclosed comments."""


def _limit_cpu_time(tokens: Iterable[LexToken]) -> Iterator[LexToken]:
    """The tokens; raises ``_TooSlow`` after ``MAX_CPU_S`` of CPU time."""
    deadline = time.thread_time() + MAX_CPU_S
    for token in tokens:
        if time.thread_time() > deadline:
            raise _TooSlow
        yield token
