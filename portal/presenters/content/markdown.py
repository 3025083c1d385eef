"""Renders untrusted Markdown as inert HTML: no raw HTML, no script, no external requests."""

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote, unquote, urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from portal.presenters.content.highlighting import highlighted_block
from portal.presenters.content.text import mark_hidden

MAX_CHARACTERS = 80_000  # rendered; the rest is shown as plain text, which costs no time
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
UrlBuilder = Callable[[str], str]  # the URL of a package file by its path


def render(text: str, *, paths: Iterable[str], page: UrlBuilder, raw: UrlBuilder) -> SafeString:
    """HTML of the text with headings one level lower.

    Links and images that name package files point to their pages; other images become text.
    """
    parser = _Parser("commonmark", {"html": False, "maxNesting": 20, "highlight": _highlight})
    parser.enable(["table", "strikethrough"])
    end = (
        len(text)
        if len(text) <= MAX_CHARACTERS
        else text.rfind("\n", 0, MAX_CHARACTERS) + 1 or MAX_CHARACTERS
    )
    tokens = parser.parse(text[:end])
    _rewrite_tokens(tokens, frozenset(paths), page, raw)
    html = parser.renderer.render(tokens, parser.options, {})
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    rest = f'<pre tabindex="0">{escape(text[end:])}</pre>' if text[end:] else ""
    return mark_safe(mark_hidden(cleaned + rest))


def _highlight(code: str, language: str, attributes: str) -> str:
    return highlighted_block(code, language) or f'<pre tabindex="0"><code>{escape(code)}</code></pre>'


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


class _Parser(MarkdownIt):
    """Markdown parser that leaves links of other schemes as text."""

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
    """Shows an image of the package; any other becomes its alternative text, so that no request is sent."""
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
