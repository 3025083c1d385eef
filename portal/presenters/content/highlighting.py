"""Syntax highlighting by Pygments, with limits because crafted text makes lexers slow."""

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
from worker.core.display_budget import CpuTime

MAX_CHARACTERS = 100_000  # longer texts are shown plain
MAX_LINE_LENGTH = 2_000
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
    """The file's extension if it names a supported language, otherwise ""."""
    extension = path.rpartition(".")[2].lower()
    return extension if extension in _LANGUAGES else ""


def highlighted_block(code: str, language: str, cpu: CpuTime) -> str:
    """A ``<pre>`` with the highlighted code; "" for unknown languages, long code, or if ``cpu`` is spent."""
    html = "" if cpu.is_spent else _html(code, language, cpu)
    return f'<pre class="hl" tabindex="0"><code>{html}</code></pre>' if html else ""


def lines(text: str, language: str) -> list[SafeString]:
    """The text's lines as safe HTML, with hidden characters shown; plain if they can't be highlighted."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    html = mark_hidden(_html(text, language, CpuTime()) or escape(text))
    return [mark_safe(line) for line in html.split("\n")]


def _html(code: str, language: str, cpu: CpuTime) -> str:
    """Pygments' HTML, in which no element spans lines; "" if the text is not highlighted.

    Once ``cpu`` is spent, the remaining text is not highlighted, because a lexer can take minutes.
    """
    lexer = _lexer(language.split(" ")[0][:20])
    if lexer is None or len(code) > MAX_CHARACTERS or max(map(len, code.split("\n"))) > MAX_LINE_LENGTH:
        return ""
    html = StringIO()
    tokens = _Tokens(lexer.get_tokens(code), cpu)
    HtmlFormatter(nowrap=True).format(iter(tokens), html)
    return html.getvalue().removesuffix("\n") + escape(code[tokens.length :])


class _Tokens:
    """Yields tokens until ``cpu`` is spent; ``length`` is the number of characters yielded."""

    def __init__(self, tokens: Iterable[LexToken], cpu: CpuTime) -> None:
        self._tokens, self._cpu, self.length = tokens, cpu, 0

    def __iter__(self) -> Iterator[LexToken]:
        for kind, text in self._tokens:
            yield kind, text
            self.length += len(text)
            if self._cpu.is_spent:
                return
