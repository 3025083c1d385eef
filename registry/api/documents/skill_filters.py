"""The filter parameters that the list and the search of skills share."""

from typing import Any

from rest_framework import serializers

from registry.api.schema import Query
from registry.identity.actors import Actor
from registry.search.query import FACETS, Filters


class FilterQuery(Query):
    team = serializers.CharField(required=False, max_length=64)
    type = serializers.CharField(required=False, max_length=16)
    tag = serializers.CharField(required=False, max_length=120)
    category = serializers.CharField(required=False, max_length=120)
    domain = serializers.CharField(required=False, max_length=120)
    source = serializers.CharField(required=False, max_length=16)  # type: ignore[assignment]
    profile = serializers.CharField(required=False, max_length=16)


def filters_of(query: dict[str, Any], actor: Actor) -> Filters:
    """The filters of the query. For a token, they exclude skills that are for people only."""
    return Filters(**{name: query.get(name, "") for name in FACETS}, for_agents=actor.token is not None)
