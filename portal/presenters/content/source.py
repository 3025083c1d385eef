"""Presents a source file as numbered, highlighted lines, as far as a page may show them."""

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from portal.presenters.content import highlighting
from worker.core.display_budget import MAX_BYTES, MAX_LINES


@dataclass(frozen=True)
class Source:
    """The rows as ``<li>`` elements; ``is_cut`` is True if the file has more."""

    rows: SafeString
    count: int
    is_cut: bool


def source(data: bytes, path: str) -> Source:
    """The lines of a file; ``data`` is cut at ``MAX_BYTES``, possibly within a line."""
    text = data[:MAX_BYTES].decode("utf-8-sig", "replace")
    shown = "\n".join(text.removesuffix("\n").split("\n", MAX_LINES)[:MAX_LINES])
    lines = highlighting.lines(f"{shown}\n", highlighting.language_of(path))
    label = gettext("Line %(number)s")
    rows = (
        f'<li id="L{n}"><a href="#L{n}" aria-label="{label % {"number": n}}">{n}</a><code>{line}</code></li>'
        for n, line in enumerate(lines, 1)
    )
    is_cut = len(data) > MAX_BYTES or text.removesuffix("\n").count("\n") >= MAX_LINES
    return Source(mark_safe("".join(rows)), len(lines), is_cut)
