"""Renders the pages of documents as HTML and caches the result in the process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it.token import Token

from portal.presenters.content.markdown import render_blocks
from registry.documentation.library import DocHeading, DocLibrary, DocPage
from worker.core.display_budget import CpuTime

_CPU_SECONDS = 30  # documents are part of the installation, so their size is known
_ATTRIBUTES = {"a": {"href", "title", "class", "aria-label"}} | {f"h{level}": {"id"} for level in range(2, 7)}
_ATTRIBUTES |= {"table": {"tabindex"}}
_CODE = re.compile(r'<pre(?: class="(\w+)")?( tabindex="0")?>(.*?)</pre>', re.S)


@lru_cache(maxsize=256)
def page_html(library: DocLibrary, page: DocPage) -> SafeString:
    headings = iter(page.headings)

    def rewrite(block: list[Token]) -> None:
        _set_anchors(block, headings)
        _resolve_links(block, library, page)
        _make_scrollable(block)

    return render_blocks(page.text, rewrite=rewrite, cpu=CpuTime(_CPU_SECONDS), attributes=_ATTRIBUTES).html


def with_copy_buttons(html: SafeString) -> SafeString:
    """The page with a Copy button, in the reader's language, at each block of code."""
    button = render_to_string("parts/copy_button.html", {"id": "code-0"}).strip()
    numbers = count(1)

    def add_button(block: re.Match[str]) -> str:
        anchor, kind = f"code-{next(numbers)}", " ".join(filter(None, [block[1], "wrapped"]))
        code = f'<pre id="{anchor}" class="{kind}" tabindex="0">{block[3]}</pre>'
        return f'<div class="code">{code}{button.replace("code-0", anchor)}</div>'

    return mark_safe(_CODE.sub(add_button, html))


def _set_anchors(block: list[Token], headings: Iterator[DocHeading]) -> None:
    heading = next(headings, None) if block[0].type == "heading_open" else None
    if heading is None:
        return
    anchor = heading.anchor
    block[0].attrs["id"] = anchor
    link = Token("link_open", "a", 1)
    link.attrs = {"href": f"#{anchor}", "class": "muted", "aria-label": "Link to this section"}
    sign, space = Token("text", "", 0, content="#"), Token("text", "", 0, content=" ")
    block[1].children = [*(block[1].children or ()), space, link, sign, Token("link_close", "a", -1)]


def _make_scrollable(block: list[Token]) -> None:
    """Code and tables can be wider than the screen, so the keyboard must reach them."""
    for token in block:
        if token.type in ("code_block", "table_open"):
            token.attrs["tabindex"] = "0"


def _resolve_links(tokens: list[Token], library: DocLibrary, page: DocPage) -> None:
    """Resolves the addresses of links and images. Links to files that the site does not serve become text."""
    is_text = False
    for token in tokens:
        if token.type == "link_open":
            is_text = not _resolve_link(token, library, page)
        elif token.type == "image":
            name = str(token.attrs.get("src", "")).rpartition("images/")[2]
            if name in library.images:
                token.attrs["src"] = reverse("doc-image", args=[name])
        if is_text and token.type in ("link_open", "link_close"):
            token.type, token.tag = "text", ""
        if token.children:
            _resolve_links(token.children, library, page)


def _resolve_link(token: Token, library: DocLibrary, page: DocPage) -> bool:
    address = str(token.attrs.get("href", ""))
    if "class" in token.attrs or address.startswith(("http:", "https:", "mailto:", "/")):
        return True
    url = library.resolve(address, page.document)
    if url is not None:
        token.attrs["href"] = url
    return url is not None
