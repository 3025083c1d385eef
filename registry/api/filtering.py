"""The filters of the catalog, as addresses say them: its list and its search have the same."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from registry.api.shapes import Query
from registry.search import FACETS, Filters


class FilterQuery(Query):
    team = serializers.CharField(required=False, max_length=64)
    type = serializers.CharField(required=False, max_length=16)
    tag = serializers.CharField(required=False, max_length=120)
    category = serializers.CharField(required=False, max_length=120)
    domain = serializers.CharField(required=False, max_length=120)
    source = serializers.CharField(required=False, max_length=16)  # type: ignore[assignment]
    profile = serializers.CharField(required=False, max_length=16)


def filters_of(query: dict[str, Any]) -> Filters:
    return Filters(**{name: query.get(name, "") for name in FACETS})
