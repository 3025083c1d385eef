"""Parts of the OpenAPI document that all operations share."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from registry.api.documents.skills import ErrorDoc

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A unique key for this change. Repeating the request with the same key "
    "returns the first response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of the resource as you read it. The request fails if the resource has "
    "changed since.",
    "schema": {"type": "string"},
}


class _Bearer(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "registry.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An access token, which you create on your account page.",
        }


class _Session(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "registry.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A browser session. Requests that change data also need the header X-CSRFToken.",
        }


class ApiSchema(AutoSchema):
    """Adds the error document as the default response, the headers of each method, and the examples."""

    def get_serializer_name(self, serializer: Any, direction: str) -> str:
        """The class name without its suffix ``Doc``: ``RunDoc`` is the schema ``Run``."""
        return type(serializer).__name__.removesuffix("Doc")

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        self._add_examples(operation)
        operation["responses"]["default"] = self._refused()
        header = {"POST": _KEY, "PATCH": _IF_MATCH}.get(self.method)
        if header:
            operation.setdefault("parameters", []).append(header)
        return operation

    def _add_examples(self, operation: dict[str, Any]) -> None:
        bodies = [("Request", operation.get("requestBody", {}))]
        bodies += [("Answer", response) for response in operation["responses"].values()]
        for kind, body in bodies:
            for content in body.get("content", {}).values():
                schema = content["schema"].get("$ref", "").rpartition("/")[2]
                own = _examples()["operations"].get(operation["operationId"], {})
                example = own.get(kind.lower()) or _schema_example(schema)
                if example is not None:
                    content["examples"] = {kind: {"value": example}}

    def _refused(self) -> dict[str, Any]:
        error: ResolvedComponent = self.resolve_serializer(ErrorDoc, "response")
        content = {"schema": error.ref, "examples": {"Refused": {"value": _schema_example("Error")}}}
        return {"description": "The request was refused or failed.", "content": {"application/json": content}}


@cache
def _examples() -> dict[str, dict[str, Any]]:
    """Examples by schema and by operation, from ``api/examples.json`` of each app. An operation has its own
    example only where it differs from the schema's.
    """
    found: dict[str, dict[str, Any]] = {"schemas": {}, "operations": {}}
    for app in apps.get_app_configs():
        file = Path(app.path, "api", "examples.json")
        for key, examples in (json.loads(file.read_text("utf-8")) if file.exists() else {}).items():
            found[key].update(examples)
    return found


def _schema_example(name: str) -> Any:
    """The example of a schema, or None. The example of a page has one item."""
    examples = _examples()["schemas"]
    if name.endswith("Page") and name not in examples:
        item = examples.get(name.removesuffix("Page"))
        return item and {"items": [item], "next_cursor": None}
    return examples.get(name)


def hash_enums_by_value(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """drf-spectacular postprocessing hook: drops enum ids, so that enums with equal values and different
    labels become one.
    """
    _drop_enum_ids(result.get("components", {}))
    return result


def _drop_enum_ids(node: Any) -> None:
    if isinstance(node, dict):
        node.pop("x-spec-enum-id", None)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _drop_enum_ids(child)
