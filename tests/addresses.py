"""Every address that the site knows, as routes such as ``skills/<slug:team>/<slug:slug>/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from django.urls import URLPattern, get_resolver


def routes() -> list[str]:
    return sorted(set(_walk(get_resolver().url_patterns, "")))


def _walk(patterns, prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _walk(pattern.url_patterns, route)


def filled(route: str, values: Mapping[str, str]) -> str:
    """The route with a value for each of its parts."""
    return re.sub(r"<\w+:(\w+)>", lambda match: values[match[1]], route)
