"""The documents below ``docs/``, split into pages and headings. They are read again after a file changes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse

ERRORS = "reference/errors"  # its pages show the declared codes, in the reader's language
_OMITTED = {"requirements"}  # explains ids that only tests use
_PAGE_CHARACTERS = 24_000  # a document that is much longer than this gets several pages
_HEADING = re.compile(r"(#{1,6}) +(.+?) *#*")
_FENCE = re.compile(r"```[^`]*")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*]")


@dataclass(frozen=True)
class DocHeading:
    """A heading of a document. ``text`` has no markup; ``anchor`` equals the id that GitHub gives the
    heading.
    """

    level: int
    text: str
    anchor: str
    line: int  # in the document, from 0


@dataclass(frozen=True)
class DocPage:
    """A document, or a part of a long one. ``name`` is the path below ``/docs/``.

    ``text`` is the Markdown without the document's title. ``headings`` has the headings of this page.
    """

    name: str
    document: str
    text: str
    headings: tuple[DocHeading, ...]

    @property
    def url(self) -> str:
        return reverse("doc", args=[self.name])


@dataclass(frozen=True)
class Document:
    name: str
    title: str
    pages: tuple[DocPage, ...]

    @property
    def url(self) -> str:
        return self.pages[0].url

    def url_of(self, anchor: str) -> str | None:
        """The URL of a heading on its page; None if no heading has the anchor."""
        found = next((page for page in self.pages for each in page.headings if each.anchor == anchor), None)
        return f"{found.url}#{anchor}" if found else None


@dataclass(frozen=True, eq=False)
class DocLibrary:
    documents: Mapping[str, Document]
    images: frozenset[str] = field(default_factory=frozenset)  # names in ``docs/images``

    @cached_property
    def pages(self) -> Mapping[str, DocPage]:
        return {page.name: page for document in self.documents.values() for page in document.pages}

    def resolve(self, address: str, document: str) -> str | None:
        """The URL for a relative address in ``document``; None if it leads to no document or heading."""
        path, _, anchor = address.partition("#")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(document), path)) if path else document
        name = name.removesuffix(".md")
        if name == ERRORS:
            return reverse("error-codes")
        found = self.documents.get(name)
        if found is None:
            return None
        return found.url_of(anchor) if anchor else found.url


def library(root: Path | None = None) -> DocLibrary:
    root = root or settings.BASE_DIR / "docs"
    return _read(root, tuple(_signature(root)))


def _signature(root: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(root.rglob("*.*")):
        state = path.stat()
        yield str(path.relative_to(root)), state.st_mtime_ns, state.st_size


@lru_cache(maxsize=2)
def _read(root: Path, files: tuple[tuple[str, int, int], ...]) -> DocLibrary:
    names = [path.removesuffix(".md") for path, _time, _size in files if path.endswith(".md")]
    documents = {name: _document(name, root) for name in names if name not in _OMITTED | {ERRORS}}
    images = (path.removeprefix("images/") for path, _time, _size in files if path.startswith("images/"))
    return DocLibrary(documents, frozenset(images))


def _document(name: str, root: Path) -> Document:
    lines = root.joinpath(f"{name}.md").read_text("utf-8").split("\n")
    headings = list(_headings(lines))
    title = next((each for each in headings if each.level == 1), None)
    rest = tuple(each for each in headings if each is not title)
    starts = [title.line + 1 if title else 0, *_breaks(lines, rest)]
    pages: list[DocPage] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        own = tuple(each for each in rest if start <= each.line < end)
        page = f"{name}/{own[0].anchor}" if pages else name
        pages.append(DocPage(page, name, "\n".join(lines[start:end]).strip() + "\n", own))
    return Document(name, title.text if title else name, tuple(pages))


def _headings(lines: Iterable[str]) -> Iterator[DocHeading]:
    seen: dict[str, int] = {}
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= bool(_FENCE.fullmatch(line))
        found = None if fenced else _HEADING.fullmatch(line)
        if found is None:
            continue
        text = plain_text(found[2])
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        yield DocHeading(len(found[1]), text, f"{slug}-{count}" if count else slug, number)


def _breaks(lines: list[str], headings: Iterable[DocHeading]) -> Iterator[int]:
    """Yields the lines of the second-level headings at which a further page begins."""
    if sum(map(len, lines)) < 1.3 * _PAGE_CHARACTERS:
        return
    sections = [each.line for each in headings if each.level == 2]
    size = sum(map(len, lines[: sections[0]])) if sections else 0
    for start, end in zip(sections, [*sections[1:], len(lines)], strict=True):
        length = sum(map(len, lines[start:end]))
        if size and size + length > _PAGE_CHARACTERS:
            yield start
            size = 0
        size += length


def plain_text(markdown: str) -> str:
    """The text of a line without emphasis, code marks and the addresses of links."""
    return _MARKUP.sub(lambda found: found[1] or "", markdown).replace("\\|", "|").strip()
