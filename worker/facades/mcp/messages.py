"""Reads and answers the JSON-RPC messages of MCP in each protocol version."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATELESS = "2026-07-28"  # from this version on, each request names its version, and there is no handshake
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
BATCH_VERSION = "2025-03-26"  # the only version with batches, and that of clients without the version header

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
RESOURCE_NOT_FOUND = -32002  # sent by versions before STATELESS
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_META = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{_META}protocolVersion", f"{_META}clientCapabilities"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BAD_REQUEST = (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION)
_MAX_ID = 256  # maximum length of ids and progress tokens, because answers repeat them
_MAX_INTEGER = 2**53


class ProtocolError(Exception):
    """An error that is sent to the client as a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def document(self, call_id: object = None) -> dict[str, Any]:
        error = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": call_id, "error": error}

    def http_status(self, version: str) -> int:
        """The HTTP status of the error. Versions before STATELESS use 200 for all errors except invalid
        messages.
        """
        if self.code in _BAD_REQUEST or (version == STATELESS and self.code == INVALID_PARAMS):
            return 400
        return 404 if version == STATELESS and self.code == METHOD_NOT_FOUND else 200


@dataclass(frozen=True)
class RpcCall:
    """A JSON-RPC request, which needs an answer."""

    id: str | int
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> str | int | None:
        token = self.meta.get("progressToken")
        return token if is_id(token) else None

    def text(self, name: str) -> str:
        """The parameter ``name``. Raises ProtocolError unless it is a string that is not empty."""
        value = self.params.get(name)
        if not isinstance(value, str) or not value:
            raise ProtocolError(INVALID_PARAMS, f"`{name}` must be a text.")
        return value

    def document(self, result: Mapping[str, Any], *, is_cacheable: bool = False) -> dict[str, Any]:
        """The answer with this result. In STATELESS, includes whether clients may cache the result."""
        if self.is_stateless:
            cache = {"ttlMs": 60_000, "cacheScope": "private"} if is_cacheable else {}
            result = {**result, **cache, "resultType": "complete"}
        return {"jsonrpc": "2.0", "id": self.id, "result": result}


def header_version(headers: Mapping[str, str]) -> str:
    """The protocol version in the headers, by default BATCH_VERSION. Raises ProtocolError if it is
    unknown.
    """
    version = headers.get("MCP-Protocol-Version", BATCH_VERSION)
    return _supported(version)


def read_call(message: object, headers: Mapping[str, str]) -> RpcCall | None:
    """The request in the message; None for a notification or a response, which need no answer.

    Raises ProtocolError for anything else.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'The body must be a JSON-RPC message with `"jsonrpc": "2.0"`.')
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, call_id, params = message.get("method"), message.get("id"), message.get("params", {})
    if not isinstance(method, str) or ("id" in message and not is_id(call_id)):
        raise ProtocolError(INVALID_REQUEST, "`method` must be a text, and `id` a short text or an integer.")
    if "id" not in message:
        return None
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "`params` must be an object.")
    return RpcCall(call_id, method, params, _version_of(method, params, headers))  # type: ignore[arg-type]


def is_id(value: object) -> bool:
    """Whether the value can be the id of a request."""
    if isinstance(value, str):
        return len(value) <= _MAX_ID
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER


def _version_of(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The version of a request. Raises ProtocolError if it is unknown or headers contradict the body.

    Since STATELESS, headers must repeat values of the body, so that proxies and servers see the same.
    """
    meta = params.get("_meta")
    has_version = isinstance(meta, dict) and VERSION_KEY in meta
    if not has_version and headers.get("MCP-Protocol-Version") != STATELESS:
        return header_version(headers)
    if not isinstance(meta, dict) or VERSION_KEY not in meta or CAPABILITIES_KEY not in meta:
        raise ProtocolError(INVALID_PARAMS, f"`_meta` must contain {VERSION_KEY} and {CAPABILITIES_KEY}.")
    if headers.get("MCP-Protocol-Version") != meta[VERSION_KEY]:
        raise _mismatch("MCP-Protocol-Version")
    if headers.get("Mcp-Method") != method:
        raise _mismatch("Mcp-Method")
    named = params.get(_NAMED_BY.get(method, ""))
    if named is not None and _decoded(headers.get("Mcp-Name", "")) != named:
        raise _mismatch("Mcp-Name")
    if meta[VERSION_KEY] != STATELESS:
        raise _unsupported(meta[VERSION_KEY], (STATELESS,))
    return STATELESS


def _mismatch(header: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"The header {header} is missing or differs from the body.")


def _supported(version: str) -> str:
    if version not in (STATELESS, *HANDSHAKES):
        raise _unsupported(version, (STATELESS, *HANDSHAKES))
    return version


def _unsupported(version: str, supported: tuple[str, ...]) -> ProtocolError:
    data = {"supported": list(supported), "requested": str(version)[:_MAX_ID]}
    return ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version.", data)


def _decoded(value: str) -> str:
    """The decoded value of a header. Clients send values that are not ASCII as ``=?base64?…?=``."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value
