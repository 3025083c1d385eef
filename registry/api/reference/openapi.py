"""Customizes the OpenAPI document: authentication, shared headers, the error response, examples and enum
names.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from registry.api.documents.skills import ErrorDoc
from registry.api.schema import Shape

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A unique key for this change. Repeating the request with the same key "
    "returns the first response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_STATUSES = {
    "400": ("Unreadable", "The body or a query parameter can't be read."),
    "401": ("SignInRequired", "The credential is missing or invalid."),
    "403": ("Forbidden", "Your scopes, your role or a rule don't allow this request."),
    "404": ("NotFound", "The resource does not exist, or you can't see it."),
    "409": ("Conflict", "The request doesn't fit the present state of the resource."),
    "410": ("Gone", "The resource was deleted permanently."),
    "411": ("LengthRequired", "The request has a body without `Content-Length`."),
    "412": ("Changed", "The resource has changed since you read its ETag."),
    "413": ("TooLarge", "The request is larger than the limit."),
    "415": ("MediaTypeUnsupported", "The endpoint doesn't accept this `Content-Type`."),
    "422": ("Invalid", "A value is invalid; `problems` lists each problem."),
    "429": ("TooManyRequests", "You sent too many requests; wait for `Retry-After` seconds."),
    "502": ("ServerFailed", "Another server gave no usable response."),
    "503": ("Unavailable", "The service is not available at present; try again later."),
    "504": ("ServerTimeout", "Another server didn't respond in time."),
    "507": ("StorageFull", "The storage of the site or team is full."),
    "default": ("Refused", "The request was refused or failed."),
}
_NAMES = {"name", "owner", "skill", "team"}  # query parameters that name a resource
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
    """Adds to each operation its error responses, its examples, and the header Idempotency-Key (POST) or
    If-Match (PATCH).
    """

    def get_serializer_name(self, serializer: Any, direction: str) -> str:
        """The class name without the suffix ``Doc``, so that ``RunDoc`` becomes the schema ``Run``."""
        return type(serializer).__name__.removesuffix("Doc")

    def _map_serializer(self, serializer: Any, direction: str, *args: Any, **kwargs: Any) -> Any:
        schema = super()._map_serializer(serializer, direction, *args, **kwargs)  # type: ignore[no-untyped-call]
        if isinstance(serializer, Shape) and schema.get("type") == "object":
            schema["additionalProperties"] = False
        return schema

    def get_auth(self) -> list[dict[str, Any]]:
        """The authentication methods of the operation, and ``{}`` if anonymous clients may send the
        request.
        """
        view: Any = self.view
        changes = self.method != "GET" and not view.is_safe_post
        return [way for way in super().get_auth() if way or not (changes or view.requires_sign_in)]

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        self._add_examples(operation)
        for status in _error_statuses(self.view, str(self.method), self.path, operation):
            operation["responses"][status] = self._error_response(status)
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

    def _error_response(self, status: str) -> dict[str, Any]:
        name, description = _STATUSES[status]
        error: ResolvedComponent = self.resolve_serializer(ErrorDoc, "response")
        content = {"schema": error.ref, "examples": {"Refused": {"value": _schema_example("Error")}}}
        shared = ResolvedComponent(name, ResolvedComponent.RESPONSE, object=name)  # type: ignore[no-untyped-call]
        shared.schema = {"description": description, "content": {"application/json": content}}
        self.registry.register_on_missing(shared)
        reference: dict[str, Any] = shared.ref
        return reference


def _error_statuses(view: Any, method: str, path: str, operation: Mapping[str, Any]) -> list[str]:
    query = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    has_body, changes = "requestBody" in operation, method != "GET" and not view.is_safe_post
    names_skill = "/skills/{" in path
    applies = {
        "403": changes or view.required_actions.get(method) or view.requires_sign_in,
        "404": "{" in path or has_body or query & _NAMES,
        "409": changes or names_skill,
        "410": names_skill or has_body,
        "411": has_body,
        "412": method == "PATCH",
        "413": has_body,
        "415": has_body,
        "422": has_body or query or view.contacts_servers,
        "429": method in view.rate_limits,
        "502": view.contacts_servers,
        "504": view.contacts_servers,
        "507": has_body and changes,
    }
    return [status for status in _STATUSES if applies.get(status, True)]


@cache
def _examples() -> dict[str, dict[str, Any]]:
    """The examples in ``api/examples.json`` of all apps: ``schemas`` by schema name, and ``operations`` by
    operation id. An operation has its own example only if it differs from the schema's.
    """
    found: dict[str, dict[str, Any]] = {"schemas": {}, "operations": {}}
    for app in apps.get_app_configs():
        file = Path(app.path, "api", "examples.json")
        for key, examples in (json.loads(file.read_text("utf-8")) if file.exists() else {}).items():
            found[key].update(examples)
    return found


def _schema_example(name: str) -> Any:
    """The example of a schema, or None. A page schema without its own example gets one with a single item."""
    examples = _examples()["schemas"]
    if name.endswith("Page") and name not in examples:
        item = examples.get(name.removesuffix("Page"))
        return item and {"items": [item], "next_cursor": None}
    return examples.get(name)


def hash_enums_by_value(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """drf-spectacular postprocessing hook that removes the ids of enums in place, so that enums with equal
    values and different labels become one. Returns ``result``.
    """
    _drop_enum_ids(result.get("components", {}))
    return result


def _drop_enum_ids(node: Any) -> None:
    if isinstance(node, dict):
        node.pop("x-spec-enum-id", None)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _drop_enum_ids(child)
