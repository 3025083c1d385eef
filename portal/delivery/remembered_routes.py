"""Remembers which view answers a path, because Django compares a path with hundreds of routes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from django.urls import ResolverMatch, URLPattern, URLResolver
from django.urls.resolvers import RoutePattern

_MAX_PATHS = 2000
_MAX_LENGTH = 200  # of a remembered path, so that all of them take at most about 3 MB


class RememberedRoutes(URLResolver):
    """All routes of the site. Paths without a view are not remembered."""

    def __init__(self, routes: Sequence[URLPattern | URLResolver]) -> None:
        super().__init__(RoutePattern(""), routes)
        self._remembered = lru_cache(maxsize=_MAX_PATHS)(self._resolve)

    def resolve(self, path: str) -> ResolverMatch:
        return self._remembered(path) if len(path) <= _MAX_LENGTH else self._resolve(path)

    def _resolve(self, path: str) -> ResolverMatch:
        found = super().resolve(path)
        found.tried = []  # the routes compared before; Django shows them on pages of errors only
        return found
