"""Reads and writes the few protocol buffers of OpenTelemetry logs that the inbox needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.api.errors import BODY_INVALID
from registry.packages.problems import Refusal

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
# Field numbers of opentelemetry.proto.logs.v1 and common.v1.
_RESOURCE_LOGS, _SCOPE_LOGS, _LOG_RECORDS = 1, 2, 2
_BODY, _ATTRIBUTES, _EVENT_NAME = 5, 6, 12
_KEY, _VALUE, _STRING = 1, 2, 1


def log_records(data: bytes) -> Iterator[dict[str, Any]]:
    """The log records of an export request, in the form of their JSON encoding, with text values only. Raises
    BODY_INVALID for malformed data.
    """
    for resource in _fields(data, _RESOURCE_LOGS):
        for scope in _fields(resource, _SCOPE_LOGS):
            for record in _fields(scope, _LOG_RECORDS):
                yield _record(record)


def export_response(rejected: int, message: str) -> bytes:
    """The answer to an export request, with a partial success if records were rejected."""
    if not rejected:
        return b""
    partial = b"\x08" + _varint(rejected) + _text(2, message)
    return b"\x0a" + _varint(len(partial)) + partial


def status(code: int, message: str) -> bytes:
    """A google.rpc.Status, the form of errors."""
    return b"\x08" + _varint(code) + _text(2, message)


def _record(data: bytes) -> dict[str, Any]:
    attributes = []
    for pair in _fields(data, _ATTRIBUTES):
        key, value = _string(pair, _KEY), b"".join(_fields(pair, _VALUE))
        attributes.append({"key": key, "value": {"stringValue": _string(value, _STRING)}})
    body = b"".join(_fields(data, _BODY))
    return {
        "attributes": attributes,
        "body": {"stringValue": _string(body, _STRING)},
        "eventName": _string(data, _EVENT_NAME),
    }


def _string(data: bytes, number: int) -> str:
    *_, last = b"", *_fields(data, number)
    return last.decode(errors="replace")


def _fields(data: bytes, number: int) -> Iterator[bytes]:
    """The contents of the length-delimited fields with this number; skips all others. Raises BODY_INVALID for
    malformed data.
    """
    place = 0
    while place < len(data):
        tag, place = _read_varint(data, place)
        kind = tag & 7
        if kind == _VARINT:
            _, place = _read_varint(data, place)
        elif kind == _BYTES:
            size, place = _read_varint(data, place)
            if size > len(data) - place:
                raise _broken()
            if tag >> 3 == number:
                yield data[place : place + size]
            place += size
        elif kind in (_FIXED64, _FIXED32):
            place += 8 if kind == _FIXED64 else 4
        else:
            raise _broken()
    if place != len(data):
        raise _broken()


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift, byte in enumerate(data[place : place + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, place + shift + 1
    raise _broken()


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _text(number: int, text: str) -> bytes:
    data = text.encode()
    return bytes([number << 3 | _BYTES]) + _varint(len(data)) + data


def _broken() -> Refusal:
    return BODY_INVALID.refusal(reason="it is not a protocol buffer of OpenTelemetry logs")
