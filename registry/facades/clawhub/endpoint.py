"""The base class of endpoints for ClawHub clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from registry.api.schema import Query, read_query
from registry.facades.clawhub import lookup
from registry.facades.endpoint import FacadeEndpoint, UnknownAddress, error_text
from registry.identity.permissions import Action
from registry.models import Skill
from registry.packages.problems import Refusal
from registry.versions.errors import VERSION_EXISTS

# Texts that clients compare.
_SKILL_NOT_FOUND = "Skill not found."
_TEXTS = {VERSION_EXISTS.name: "Version already exists"}


class ClawHubOwnerQuery(Query):
    ownerHandle = serializers.CharField(
        required=False, max_length=64, allow_blank=True, help_text="A team's slug."
    )


class ClawHubEndpoint(FacadeEndpoint):
    """An endpoint whose errors are plain text, which clients print."""

    required_actions = {"GET": (Action.SEE,)}

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        document = json.loads(response.content)
        text = f"{error_text(document)} ({document['code']})"
        if isinstance(exc, Refusal) and exc.problems[0].params.get("what") == "skill":
            text = f"{_SKILL_NOT_FOUND} {text}"
        text = _TEXTS.get(document["code"], text)
        response.content = text.encode()
        response["Content-Type"] = "text/plain; charset=utf-8"
        return response

    def query(self, shape: type[Query] = ClawHubOwnerQuery) -> dict[str, Any]:
        return read_query(shape, self.request, ignore_unknown=True)

    def find(self, slug: str, query: Mapping[str, Any]) -> Skill:
        """The skill that the request names. Raises the errors of ``lookup.find_skill``."""
        return lookup.find_skill(slug, query.get("ownerHandle", ""), self.actor)


@extend_schema(exclude=True)
class UnknownRoute(UnknownAddress, ClawHubEndpoint):
    pass
