from __future__ import annotations

import json
import logging
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import errors, etag
from registry.api.error_response import response_for
from registry.core.addresses import absolute_url
from registry.facades.endpoint import FacadeEndpoint
from registry.identity.permissions import Action
from registry.packages.problems import Refusal, code_named
from worker.facades.mcp import messages
from worker.facades.mcp.errors import ORIGIN_NOT_ALLOWED
from worker.facades.mcp.messages import ProtocolError, RpcCall
from worker.facades.mcp.methods import CACHEABLE, METHODS
from worker.facades.mcp.runs import is_failed, wait_for
from worker.facades.mcp.tools import TOOLS, refusal_document
from worker.facades.mcp.waits import WAIT_HEADER, RunWait

_log = logging.getLogger(__name__)
_MAX_BATCH = 20
_EVENT_STREAM = "text/event-stream"
_JSON_CODES = frozenset({errors.JSON_INVALID.name, errors.BODY_INVALID.name})
_WAITS = ("skills_run", "run_status")


@extend_schema(exclude=True)
class Mcp(FacadeEndpoint):
    """Answers each POST at once. Refuses GET and DELETE, because there are no sessions and no streams that
    outlive a request.
    """

    required_actions = {"POST": (Action.SEE, Action.READ_RUNS, Action.RUN)}
    is_safe_post = True  # each tool checks the permissions of its caller
    http_method_names = ["post"]
    wait: RunWait | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        _require_own_origin(request)
        super().initial(request, *args, **kwargs)

    def post(self, request: Request) -> HttpResponse:
        try:
            body = request.data
            if isinstance(body, list):
                return self._answer_batch(body)
            call = messages.read_call(body, request.headers)
            if call is None:
                messages.header_version(request.headers)
                return etag.set_private(HttpResponse(status=202))
        except ProtocolError as error:
            call_id = request.data.get("id") if isinstance(request.data, dict) else None
            return _response(error.document(call_id if messages.is_id(call_id) else None), 400)
        return self._answer(call)

    def _answer(self, call: RpcCall) -> HttpResponse:
        try:
            response = _response(self._result(call), 200)
        except ProtocolError as error:
            return _response(error.document(call.id), error.http_status(call.version))
        if self.wait:
            response[WAIT_HEADER] = self.wait.header()
        return response

    def _answer_batch(self, batch: list[Any]) -> HttpResponse:
        version = messages.header_version(self.request.headers)
        if version != messages.BATCH_VERSION or not 0 < len(batch) <= _MAX_BATCH:
            raise ProtocolError(
                messages.INVALID_REQUEST,
                f"Send one message. Version {messages.BATCH_VERSION} accepts up to {_MAX_BATCH}.",
            )
        answers = [answer for message in batch if (answer := self._batch_answer(message))]
        return _response(answers, 200) if answers else etag.set_private(HttpResponse(status=202))

    def _batch_answer(self, message: object) -> dict[str, Any] | None:
        try:
            call = messages.read_call(message, self.request.headers)
        except ProtocolError as error:
            return error.document()
        if call is None:
            return None
        try:
            return self._result(call)
        except ProtocolError as error:
            return error.document(call.id)

    def _result(self, call: RpcCall) -> dict[str, Any]:
        """The answer to the call. Turns refusals and unexpected exceptions into ProtocolError."""
        try:
            result = self._call(call)
        except Refusal as refused:
            raise _protocol_error(refused, call) from None
        except ProtocolError:
            raise
        except Exception as error:
            document = json.loads(response_for(error, self.request).content)  # logs an unexpected exception
            raise ProtocolError(messages.INTERNAL_ERROR, document["message"], document) from None
        return call.document(result, is_cacheable=call.method in CACHEABLE)

    def _call(self, call: RpcCall) -> dict[str, Any]:
        if call.method == "tools/list":
            return {"tools": [tool.document() for tool in TOOLS.values()]}
        if call.method == "tools/call":
            return self._call_tool(call)
        if call.method not in METHODS:
            raise ProtocolError(messages.METHOD_NOT_FOUND, f"Method not found: {call.method[:80]}")
        return METHODS[call.method](call, self.actor)

    def _call_tool(self, call: RpcCall) -> dict[str, Any]:
        """The tool's result. A refusal is also returned as a result, because the agent can correct the
        call.
        """
        tool = TOOLS.get(call.text("name"))
        if tool is None:
            raise ProtocolError(messages.INVALID_PARAMS, f"Unknown tool: {call.text('name')[:80]}")
        try:
            arguments = tool.read_arguments(call.params.get("arguments") or {}, self.actor)
            if tool.rate_limit:
                self.count(tool.rate_limit)
            result = tool.call(arguments, self.actor)
        except Refusal as refused:
            return {"content": _texts(refusal_document(refused)), "isError": True}
        if tool.name in _WAITS:
            streams = _EVENT_STREAM in self.request.headers.get("Accept", "")
            self.wait = wait_for(call, tool.name, arguments, result, streams=streams)
        is_error = tool.name in _WAITS and is_failed(result)
        return {"content": _texts(result), "structuredContent": result, "isError": is_error}

    def handle_exception(self, exc: Exception) -> Any:
        """The error as JSON-RPC, with the HTTP status of the API."""
        response: Any = super().handle_exception(exc)
        document = json.loads(response.content)
        code = messages.INVALID_REQUEST if response.status_code < 500 else messages.INTERNAL_ERROR
        if document["code"] in _JSON_CODES:
            code = messages.PARSE_ERROR
        text = f"{document['message']} {document['remedy']}".strip()
        error = ProtocolError(code, text, document)
        response.content = json.dumps(error.document(), ensure_ascii=False).encode()
        return response


def _response(document: Any, status: int) -> HttpResponse:
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    return etag.set_private(HttpResponse(data, content_type="application/json", status=status))


def _texts(document: dict[str, Any]) -> list[dict[str, str]]:
    return [{"type": "text", "text": json.dumps(document, ensure_ascii=False, separators=(",", ":"))}]


def _protocol_error(refused: Refusal, call: RpcCall) -> ProtocolError:
    document = refusal_document(refused)
    status = code_named(refused.code).http
    code = messages.INTERNAL_ERROR if status >= 500 else messages.INVALID_PARAMS
    if status in (404, 410) and call.method == "resources/read" and not call.is_stateless:
        code = messages.RESOURCE_NOT_FOUND
    return ProtocolError(code, f"{document['message']} {document['remedy']}".strip(), document)


def _require_own_origin(request: Request) -> None:
    """Raises ORIGIN_NOT_ALLOWED for requests by pages of other origins, which could otherwise use a site on
    the user's machine.
    """
    origin = request.headers.get("Origin")
    own = urlsplit(absolute_url(""))
    if origin and origin not in (f"{own.scheme}://{own.netloc}", *settings.CSRF_TRUSTED_ORIGINS):
        raise ORIGIN_NOT_ALLOWED.refusal(origin=origin[:200])
