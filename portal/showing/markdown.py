"""A stranger's Markdown as HTML that can do nothing: no raw HTML, no script, nothing fetched elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import quote, unquote, urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from portal.showing.highlighting import highlighted_block
from portal.showing.texts import mark_hidden

LONGEST = 80_000  # characters that are drawn; the rest stands as it is written, which costs no time
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
Address = Callable[[str], str]  # of a file of the package, by its path


def render(text: str, *, paths: Iterable[str], page: Address, raw: Address) -> SafeString:
    """HTML of the text, its headings one below the page's own; links and images of the package's files lead
    there, other images are only named."""
    parser = _Parser("commonmark", {"html": False, "maxNesting": 20, "highlight": _highlight})
    parser.enable(["table", "strikethrough"])
    end = len(text) if len(text) <= LONGEST else text.rfind("\n", 0, LONGEST) + 1 or LONGEST
    tokens = parser.parse(text[:end])
    _lead_home(tokens, frozenset(paths), page, raw)
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
    """Markdown in which an address of any other scheme stays text."""

    def validateLink(self, url: str) -> bool:
        found = _SCHEME.match(url)
        return found is None or found.group().lower() in ("http:", "https:", "mailto:")


def _lead_home(tokens: Sequence[Token], paths: frozenset[str], page: Address, raw: Address) -> None:
    for token in tokens:
        if token.type == "link_open":
            path = _path(str(token.attrs.get("href", "")))
            if path in paths:
                token.attrs["href"] = page(quote(path))
        elif token.type == "image":
            _show_image(token, paths, raw)
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.children:
            _lead_home(token.children, paths, page, raw)


def _show_image(token: Token, paths: frozenset[str], raw: Address) -> None:
    """An image of the package is shown; any other becomes its words, so that reading fetches nothing."""
    source = str(token.attrs.get("src", ""))
    path = _path(source)
    if path in paths and path.lower().endswith(_IMAGES):
        token.attrs["src"] = raw(quote(path))
        return
    token.type, token.tag, token.children = "text", "", None
    token.content = f"[{token.content or source}]"


def _path(address: str) -> str:
    """The package path that a relative address names, else ""."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return ""
    return unquote(parts.path).removeprefix("./")
