"""Text of people, before it is stored: what PostgreSQL or a page cannot hold is refused here."""

from __future__ import annotations

import re

from registry.packages.problems import refuse

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = frozenset({"api", "listing", "match", "new", "settings"})  # words of addresses of our own


def plain(text: str, *, field: str, most: int, may_be_empty: bool = False) -> str:
    """The text without outer blanks; refused when it holds NUL or lone surrogates, or is too long."""
    text = text.strip()
    broken = "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)
    if broken or len(text) > most or not (text or may_be_empty):
        raise refuse("TEXT_INVALID", path=field, field=field, most=most)
    return text


def slug(text: str) -> str:
    """The slug as it is, refused when it cannot be part of an address."""
    if len(text) > 64 or not SLUG.fullmatch(text) or text in _RESERVED:
        raise refuse("SLUG_INVALID", path="slug", slug=text[:80])
    return text
