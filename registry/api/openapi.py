"""What every operation has in common, added to the OpenAPI document once."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from registry.api.documents import ErrorDoc

_ERROR_EXAMPLE = {
    "code": "NOT_FOUND",
    "message": "There is no skill docs/summarise, or it is not yours to see.",
    "remedy": "Check the spelling, and that you are signed in as somebody who may see it.",
    "retryable": False,
    "docs_url": "https://skills.example/api/v1/errors/NOT_FOUND",
    "request_id": "01kajq3s5d8m6v9x2c4b7n1p0z",
    "problems": [],
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A fresh key for each deed: the same request sent again gets the first answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag that was read: change it only if nobody else has.",
    "schema": {"type": "string"},
}


class _Bearer(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "registry.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An access token of your account page."}


class _Session(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "registry.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A browser's session; changes need X-CSRFToken too.",
        }


class Schema(AutoSchema):
    """Each operation with the error shape as its default answer, and the headers of its method."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        operation["responses"]["default"] = self._refused()
        header = {"POST": _KEY, "PATCH": _IF_MATCH}.get(self.method)
        if header:
            operation.setdefault("parameters", []).append(header)
        return operation

    def _refused(self) -> dict[str, Any]:
        error: ResolvedComponent = self.resolve_serializer(ErrorDoc, "response")
        content = {"schema": error.ref, "examples": {"Refused": {"value": _ERROR_EXAMPLE}}}
        return {"description": "Refused, or failed.", "content": {"application/json": content}}
