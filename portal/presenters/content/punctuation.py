"""Joins texts with the punctuation of the reader's language."""

import re
from collections.abc import Iterable

from django.utils.translation import pgettext

_STOPS = "，。：；、？！"
_GAP = re.compile(
    rf"(?<=[{_STOPS}])(?:<[^>]*>|\s)+"
    rf"|\s(?:<[^>]*>|\s)*(?=[{_STOPS}（）])"
    r"|[ \t]*\n\s*(?=[:,])"  # between the lines of a template
)
_TAG = re.compile(r"<[^>]*>")


def listed(items: Iterable[object]) -> str:
    """The items in one line, such as "a, b"."""
    return pgettext("list", ", ").join(map(str, items))


def labelled(label: object, value: object) -> str:
    """The value after its label, such as "Status: failed"."""
    return str(label) + pgettext("label", ": ") + str(value)


def with_aside(text: object, aside: object) -> str:
    """The text followed by the aside in parentheses, such as "Docs (docs)"."""
    return str(text) + pgettext("aside", " (%s)") % aside


def sentences(texts: Iterable[object]) -> str:
    """The sentences one after the other, without the empty ones."""
    return close_up(" ".join(str(text) for text in texts if text))


def close_up(html: str) -> str:
    """The HTML or text without white space next to full-width punctuation, and without line breaks before a
    colon or comma.
    """
    return _GAP.sub(lambda gap: "".join(_TAG.findall(gap[0])), html)
