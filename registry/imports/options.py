"""What a source far away may be told, checked; and what is kept of where a skill came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from registry.packages.problems import refuse
from registry.texts import plain

_LONGEST = 300  # characters of one option


def checked(
    options: Mapping[str, Any], *, texts: Sequence[str] = (), flags: Sequence[str] = ()
) -> dict[str, Any]:
    """The options that say something, refused where one is unknown or of another type."""
    kept: dict[str, Any] = {}
    for name, value in options.items():
        is_text = name in texts and isinstance(value, str)
        if not is_text and not (name in flags and isinstance(value, bool)):
            raise refuse("IMPORT_OPTION", path=f"options.{name[:80]}", option=name[:80])
        if is_text:
            value = _text(name, value)
        if value:
            kept[name] = value
    return kept


def _text(name: str, value: str) -> str:
    return plain(value, field=f"options.{name}", most=_LONGEST, may_be_empty=True)


def provenance(**said: str) -> dict[str, str]:
    """Where it came from; the query of an address may be a secret and is not kept."""
    return {
        name: urlsplit(value)._replace(query="", fragment="").geturl() if "://" in value else value
        for name, value in said.items()
        if value
    }
