"""Presents a text file as numbered, highlighted lines, within the limits of a page."""

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from portal.presenters.content import highlighting
from worker.core.display_budget import MAX_BYTES, MAX_LINES


@dataclass(frozen=True)
class Source:
    """The shown lines as ``<li>`` elements, and their number; ``is_cut`` is True if the file has more
    lines.
    """

    rows: SafeString
    count: int
    is_cut: bool


def source(data: bytes, path: str) -> Source:
    """The first ``MAX_LINES`` lines of a file; ``data`` is cut at ``MAX_BYTES``, possibly within a line."""
    text = data[:MAX_BYTES].decode("utf-8-sig", "replace")
    shown = "\n".join(text.removesuffix("\n").split("\n", MAX_LINES)[:MAX_LINES])
    lines = _lines(f"{shown}\n", highlighting.language_of(path))
    label = gettext("Line %(number)s")
    rows = (
        f'<li id="L{n}"><a href="#L{n}" aria-label="{label % {"number": n}}">{n}</a><code>{line}</code></li>'
        for n, line in enumerate(lines, 1)
    )
    is_cut = len(data) > MAX_BYTES or text.removesuffix("\n").count("\n") >= MAX_LINES
    return Source(mark_safe("".join(rows)), len(lines), is_cut)


def _lines(text: str, language: str) -> list[SafeString]:
    """The highlighted lines; the front matter of Markdown is highlighted as YAML."""
    end = text.find("\n---\n", 3) + 1
    if language not in ("md", "markdown") or not text.startswith("---\n") or not end:
        return highlighting.lines(text, language)
    return highlighting.lines(text[:end], "yaml") + highlighting.lines(text[end:], language)
