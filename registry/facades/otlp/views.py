"""The endpoint that receives OpenTelemetry logs."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import bodies
from registry.api.errors import BODY_INVALID, BODY_TOO_LARGE, JSON_INVALID
from registry.facades.endpoint import FacadeEndpoint, UnknownAddress, error_text
from registry.facades.otlp import events, protobuf
from registry.facades.sole_team import sole_team
from registry.identity.permissions import Action
from registry.usage.activations import record_activation, record_unknown

_PROTOBUF = "application/x-protobuf"
_MAX_RECORDS = 2000  # of one request; more are rejected
# Codes of google.rpc.Status.
_CODES = {401: 16, 403: 7, 404: 5, 429: 8, 503: 14}
_INVALID, _INTERNAL = 3, 13


class _OtlpEndpoint(FacadeEndpoint):
    """An endpoint whose answers have the encoding of the request, and whose errors are of type
    google.rpc.Status.
    """

    parser_classes = [bodies.RawBody]
    body_encodings = ("gzip",)

    @property
    def is_protobuf(self) -> bool:
        return self.request.content_type.partition(";")[0].strip().lower() == _PROTOBUF

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        document = json.loads(response.content)
        if response.status_code == 422:
            response.status_code = 400  # clients send a request again after most other errors
        code = _CODES.get(response.status_code, _INTERNAL if response.status_code >= 500 else _INVALID)
        text = f"{error_text(document)} ({document['code']})"
        if self.is_protobuf:
            response.content, response["Content-Type"] = protobuf.status(code, text), _PROTOBUF
        else:
            response.content = json.dumps({"code": code, "message": text}, ensure_ascii=False).encode()
        return response


@extend_schema(exclude=True)
class OtlpLogs(_OtlpEndpoint):
    """Counts the activations among the first ``_MAX_RECORDS`` records: as uses of skills that the actor can
    see, others as unknown activations. Accepts and drops other records; rejects further ones.
    """

    required_actions = {"POST": (Action.INSTALL,)}

    def post(self, request: Request) -> HttpResponse:
        data, team = _read_body(request), sole_team(self.actor)
        records = iter(protobuf.log_records(data) if self.is_protobuf else _json_records(data))
        found = list(islice(records, _MAX_RECORDS))
        rejected = sum(1 for _ in records)
        for activation in events.activations(found):
            if skill := events.find_skill(activation, self.actor):
                record_activation(skill, self.actor.caller, activation.trigger)
            else:
                record_unknown(team, activation.shown_name)
        message = f"At most {_MAX_RECORDS} log records per request are accepted." if rejected else ""
        if self.is_protobuf:
            return HttpResponse(protobuf.export_response(rejected, message), content_type=_PROTOBUF)
        partial = {"rejectedLogRecords": str(rejected), "errorMessage": message}
        answer = {"partialSuccess": partial} if rejected else {}
        return HttpResponse(json.dumps(answer), content_type="application/json")


@extend_schema(exclude=True)
class OtlpUnknown(UnknownAddress, _OtlpEndpoint):
    """Refuses the addresses of other signals, such as metrics and traces."""


def _read_body(request: Request) -> bytes:
    """The body, decompressed. Raises BODY_TOO_LARGE above SKILLQUAY_MAX_REQUEST_BYTES, and BODY_INVALID for
    an incomplete body or broken gzip data.
    """
    limit = settings.SKILLQUAY_MAX_REQUEST_BYTES
    data = b"".join(bodies.body_chunks(request, limit=limit))
    if request.headers.get("Content-Encoding", "").lower() == "gzip":
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(limit + 1)
        except (OSError, EOFError, ValueError) as error:
            raise BODY_INVALID.refusal(reason=str(error)[:200]) from None
    if len(data) > limit:
        raise BODY_TOO_LARGE.refusal(limit=limit)
    return data


def _json_records(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The log records of the JSON encoding. Raises JSON_INVALID for another document."""
    document = bodies.strict_json(data)
    if not isinstance(document, dict):
        raise JSON_INVALID.refusal(reason="the document is not an object")
    for resource in _objects(document, "resourceLogs"):
        for scope in _objects(resource, "scopeLogs"):
            yield from _objects(scope, "logRecords")


def _objects(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    rows = document.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise JSON_INVALID.refusal(reason=f"{name} is not a list of objects")
    yield from rows
