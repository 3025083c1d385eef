"""Presents a page of the documentation with its table of contents, and the pages that mention an
error code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from portal.pages.docs.outline import IndexEntry, group_of, groups, neighbors, page_title
from portal.pages.docs.rendering import page_html, with_copy_buttons
from portal.pages.docs.titles import title_of
from registry.documentation.library import DocHeading, DocLibrary, DocPage, Document


@dataclass(frozen=True)
class ContentsRow:
    """A heading of the table of contents. ``below`` contains the headings one level lower, if the heading is
    on the current page.
    """

    heading: DocHeading
    url: str
    below: tuple[DocHeading, ...]


def contents_of(page: DocPage, library: DocLibrary) -> dict[str, Any]:
    """The context of ``docs/page.html``."""
    document = library.documents[page.document]
    shown = groups(library)
    before, after = neighbors(page, shown)
    return {
        "title": page_title(document, page),
        "document": document,
        "document_title": title_of(document),
        "page": page,
        "group": group_of(page, shown),
        "html": with_copy_buttons(page_html(library, page)),
        "contents": _table_of_contents(document, page),
        "before": before,
        "after": after,
    }


def _table_of_contents(document: Document, page: DocPage) -> list[ContentsRow]:
    """The sections of the whole document, with the subsections of this page."""
    rows = []
    for each in document.pages:
        prefix = "" if each is page else each.url
        for at, heading in enumerate(each.headings):
            if heading.level == 2:
                below = _below(each.headings[at + 1 :]) if each is page else ()
                rows.append(ContentsRow(heading, f"{prefix}#{heading.anchor}", below))
    return rows


def _below(headings: tuple[DocHeading, ...]) -> tuple[DocHeading, ...]:
    end = next((at for at, each in enumerate(headings) if each.level <= 2), len(headings))
    return tuple(each for each in headings[:end] if each.level == 3)


def mentions_of(code: str, library: DocLibrary) -> list[IndexEntry]:
    """The pages whose text names the code."""
    pattern = re.compile(rf"\b{re.escape(code)}\b")
    return [
        IndexEntry(page_title(library.documents[page.document], page), page.url)
        for page in library.pages.values()
        if pattern.search(page.text)
    ]
