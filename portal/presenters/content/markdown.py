"""Renders untrusted Markdown as inert HTML: no raw HTML, no script, no external requests."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from urllib.parse import quote, unquote, urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from portal.presenters.content.highlighting import highlighted_block
from portal.presenters.content.text import mark_hidden
from worker.core.display_budget import MAX_LINES, MAX_TOKENS, CpuTime

_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
# fmt: off
_TAGS = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "em", "strong", "s", "code", "pre", "ul", "ol", "li",
    "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "img", "span",
}
# fmt: on
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "span": {"class"},
    "pre": {"class", "tabindex"},
}
_LINK_REL = "nofollow noopener noreferrer"
UrlBuilder = Callable[[str], str]  # returns the URL of a package file for its path
TokenRewriter = Callable[[list[Token]], None]


@dataclass(frozen=True)
class Rendered:
    """Rendered HTML. ``ran_out_of_time`` is True if a part is plain text only because the CPU time was
    spent.
    """

    html: SafeString
    ran_out_of_time: bool


def render(
    text: str, *, paths: Iterable[str], page: UrlBuilder, raw: UrlBuilder, cpu: CpuTime | None = None
) -> SafeString:
    """HTML of the text with headings one level lower.

    Links to package files get URLs from ``page``, images of the package from ``raw``; other images become
    text. If the text has too many lines or elements, or ``cpu`` is spent, the rest follows as plain text.
    """
    return render_within(text, paths=paths, page=page, raw=raw, cpu=cpu or CpuTime()).html


def render_within(
    text: str, *, paths: Iterable[str], page: UrlBuilder, raw: UrlBuilder, cpu: CpuTime
) -> Rendered:
    """Renders the text as ``render`` does, and also returns whether the CPU time was sufficient."""
    rewrite = partial(_rewrite_tokens, paths=frozenset(paths), page=page, raw=raw)
    return render_blocks(text, rewrite=rewrite, cpu=cpu, attributes={}, link_rel=_LINK_REL)


def render_blocks(
    text: str,
    *,
    rewrite: TokenRewriter,
    cpu: CpuTime,
    attributes: Mapping[str, set[str]],
    link_rel: str | None = None,
) -> Rendered:
    """Renders the text after ``rewrite`` has changed the tokens of each top-level block in place.

    Removes attributes other than ``_ATTRIBUTES`` and ``attributes``. Sets ``link_rel`` on all links.
    """
    document = _Document(text, cpu)
    html = []
    for block in document.blocks():
        rewrite(block)
        html.append(document.render(block))
    cleaned = nh3.clean(
        "".join(html),
        tags=_TAGS,
        attributes={**_ATTRIBUTES, **attributes},
        url_schemes={"http", "https", "mailto"},
        link_rel=link_rel,
    )
    rest = f'<pre tabindex="0">{escape(document.rest)}</pre>' if document.rest else ""
    return Rendered(mark_safe(mark_hidden(cleaned + rest)), document.ran_out_of_time)


class _Spent(Exception):
    pass


class _Document:
    """A text that is parsed block by block at its top level. ``rest`` is the part that was not parsed."""

    def __init__(self, text: str, cpu: CpuTime) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        end = _offset_of(text, MAX_LINES)
        self._text, self.rest = text[:end], text[end:]
        self.ran_out_of_time = False
        self._cpu = self._limit = cpu
        self._environment: EnvType = {}
        self._parser = _Parser("commonmark", {"html": False, "maxNesting": 20, "highlight": self._highlight})
        self._parser.enable(["table", "strikethrough"])
        self._parser.core.ruler.disable(["normalize", "block"])
        interruptible: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
        self._parser.block.ruler.before("table", "budget", self._check_block, interruptible)
        self._parser.inline.ruler.before("text", "budget", self._check_inline)

    def blocks(self) -> Iterator[list[Token]]:
        """Yields the tokens of each top-level block. At a limit, adds the remaining text to ``rest``."""
        tokens, is_whole = self._parse_blocks()
        starts = [at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
        whole = starts if is_whole else starts[:-1]
        for at, end in zip_longest(whole, starts[1:], fillvalue=len(tokens)):
            block = tokens[at:end]
            if not self._parse_text_of(block):
                return self._stop_before(block)
            yield block
        if not is_whole:
            self._stop_before(tokens[starts[-1] :] if starts else ())

    def render(self, block: Sequence[Token]) -> str:
        html: str = self._parser.renderer.render(block, self._parser.options, self._environment)
        return html

    def _parse_blocks(self) -> tuple[list[Token], bool]:
        """The block tokens, and whether parsing reached the end. Uses at most half of the CPU time."""
        tokens: list[Token] = []
        self._limit = self._cpu.half()
        try:
            self._parser.block.parse(self._text, self._parser, self._environment, tokens)
        except _Spent:
            return tokens, False
        finally:
            self._limit = self._cpu
        return tokens, True

    def _parse_text_of(self, block: list[Token]) -> bool:
        state = StateCore("", self._parser, self._environment)
        state.tokens = block
        try:
            self._parser.core.process(state)
        except _Spent:
            return False
        return True

    def _stop_before(self, block: Sequence[Token]) -> None:
        line = (block[0].map or [0])[0] if block else 0
        self.rest = self._text[_offset_of(self._text, line) :] + self.rest

    def _check_block(self, state: StateBlock, first: int, last: int, silent: bool) -> bool:
        return self._check(state.tokens)

    def _check_inline(self, state: StateInline, silent: bool) -> bool:
        return self._check(state.tokens)

    def _check(self, tokens: Sequence[Token]) -> bool:
        """A parser rule that matches nothing; the parser calls it before each element.

        Raises ``_Spent`` above the limits.
        """
        if self._limit.is_spent:
            self.ran_out_of_time = True
            raise _Spent
        if len(tokens) > MAX_TOKENS:
            raise _Spent
        return False

    def _highlight(self, code: str, language: str, attributes: str) -> str:
        plain = f'<pre tabindex="0"><code>{escape(code)}</code></pre>'
        html = highlighted_block(code, language, self._cpu) or plain
        self.ran_out_of_time |= self._cpu.is_spent
        return html


def _offset_of(text: str, line: int) -> int:
    """The offset of the line's start (lines count from 0); the end of the text if it has fewer lines."""
    if line == 0:
        return 0
    newline = next(islice(re.finditer("\n", text), line - 1, None), None)
    return newline.end() if newline else len(text)


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


class _Parser(MarkdownIt):
    """A Markdown parser that keeps links as text unless they are relative, HTTP(S) or ``mailto:``."""

    def validateLink(self, url: str) -> bool:
        found = _SCHEME.match(url)
        return found is None or found.group().lower() in ("http:", "https:", "mailto:")


def _rewrite_tokens(
    tokens: Sequence[Token], paths: frozenset[str], page: UrlBuilder, raw: UrlBuilder
) -> None:
    for token in tokens:
        if token.type == "link_open":
            path = _path(str(token.attrs.get("href", "")))
            if path in paths:
                token.attrs["href"] = page(quote(path))
        elif token.type == "image":
            _rewrite_image(token, paths, raw)
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.children:
            _rewrite_tokens(token.children, paths, page, raw)


def _rewrite_image(token: Token, paths: frozenset[str], raw: UrlBuilder) -> None:
    """Sets the URL of a package's image. Replaces other images with their alternative text, so that the
    browser sends no request.
    """
    source = str(token.attrs.get("src", ""))
    path = _path(source)
    if path in paths and path.lower().endswith(_IMAGES):
        token.attrs["src"] = raw(quote(path))
        return
    token.type, token.tag, token.children = "text", "", None
    token.content = f"[{token.content or source}]"


def _path(address: str) -> str:
    """The package path that a relative URL names, otherwise ""."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return ""
    return unquote(parts.path).removeprefix("./")
