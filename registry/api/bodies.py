"""Bodies of strangers, read with limits: strict JSON, raw bytes, and forms whose files keep their folders."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from registry.packages.problems import Refused, refuse

DEEPEST = 64
MOST_LISTS = 100_000  # lists and objects in one body: each is looked at several times
PIECE = 65_536  # bytes
_IN_MEMORY = 2**20  # bytes
_LONGEST = 2**40  # bytes that a body may ever announce; each address has a limit of its own


@dataclass(frozen=True)
class Part:
    """One file of a form: ``path`` as the client wrote it, folders included; judged by whoever reads it."""

    field: str
    path: str
    file: IO[bytes]

    def read(self) -> bytes:
        self.file.seek(0)
        return self.file.read()

    def pieces(self) -> Iterator[bytes]:
        self.file.seek(0)
        return iter(lambda: self.file.read(PIECE), b"")

    def close(self) -> None:
        self.file.close()


@dataclass(frozen=True)
class Form:
    fields: dict[str, str]
    parts: tuple[Part, ...]

    def named(self, field: str) -> list[Part]:
        return [part for part in self.parts if part.field == field]


class StrictJson(BaseParser):
    """One JSON document in UTF-8 that every database and client can hold."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        data = stream.read(settings.SKILLQUAY_REQUEST_BYTES + 1)
        if len(data) > settings.SKILLQUAY_REQUEST_BYTES:
            raise refuse("BODY_TOO_LARGE", limit=settings.SKILLQUAY_REQUEST_BYTES)
        return strict_json(data)


class AnyBytes(BaseParser):
    """Leaves the body in the stream: its view reads it, piece by piece."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        return {}


def strict_json(data: bytes) -> Any:
    """The document, or JSON_INVALID with the line; no key twice, no NaN or infinity, no NUL, no surrogate."""
    if data.count(b"[") + data.count(b"{") > MOST_LISTS:
        raise refuse("JSON_INVALID", reason=f"more than {MOST_LISTS} lists and objects")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise refuse("JSON_INVALID", line=error.lineno, reason=f"{error.msg}, line {error.lineno}") from None
    except UnicodeDecodeError as error:
        raise refuse("JSON_INVALID", reason=f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise refuse("JSON_INVALID", reason=str(error)[:200]) from None
    _check(value, "", DEEPEST)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:80]!a} stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _check(value: Any, pointer: str, deeper: int) -> None:
    """What Python's reader lets through and others choke on."""
    if isinstance(value, str):
        if "\0" in value or not _encodable(value):
            raise refuse("JSON_INVALID", path=pointer, reason="a text holds NUL or half a character")
    elif isinstance(value, dict | list):
        if deeper == 0:
            raise _too_deep()
        if isinstance(value, dict):
            _check("".join(value), pointer, deeper)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, str | dict | list):
                _check(item, f"{pointer}/{str(key)[:200]}", deeper - 1)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep() -> Refused:
    return refuse("JSON_INVALID", reason=f"more than {DEEPEST} levels")


def require_length(request: HttpRequest) -> None:
    """A body is announced with its length and comes as it is; the bridge under us reads no chunked one."""
    if encoding := request.headers.get("Content-Encoding", ""):
        raise refuse("MEDIA_TYPE_UNSUPPORTED", type=encoding[:100], accepted="identity")
    if "chunked" in request.headers.get("Transfer-Encoding", "").lower() and not content_length(request):
        raise refuse("LENGTH_REQUIRED")
    if content_length(request) > _LONGEST:
        raise refuse("BODY_TOO_LARGE", limit=_LONGEST)


def content_length(request: HttpRequest | Request) -> int:
    text = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 100 else 0


def pieces(request: Request, *, limit: int) -> Iterator[bytes]:
    """The raw body as it comes, at most ``limit`` bytes, and not one less than was announced."""
    announced, read = content_length(request), 0
    if announced > limit:
        raise refuse("BODY_TOO_LARGE", limit=limit)
    while read < announced and (piece := request._request.read(min(PIECE, announced - read))):
        read += len(piece)
        yield piece
    if read < announced:
        raise refuse("BODY_INVALID", reason=f"it ended after {read} of {announced} bytes")


def read_form(request: Request, *, limit: int) -> Form:
    """A multipart form of at most ``limit`` bytes; Django's own parser would strip folders from the names."""
    if content_length(request) > limit:
        raise refuse("BODY_TOO_LARGE", limit=limit)
    collect = _Collect()
    try:
        fields, files = _Multipart(request.META, request._request, [collect], "utf-8").parse()
        setattr(request._request, "_files", files)  # noqa: B010  (closed with the request)
    except (MultiPartParserError, ValueError, UnicodeError) as error:
        raise refuse("BODY_INVALID", reason=str(error)[:200]) from None
    except RequestDataTooBig:
        raise refuse("BODY_TOO_LARGE", limit=settings.SKILLQUAY_REQUEST_BYTES) from None
    finally:
        collect.upload_interrupted()
    parts = tuple(part for _, many in files.lists() for part in many)
    return Form({key: str(value) for key, value in fields.items()}, parts)


class _Multipart(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str:
        return file_name


class _Collect(FileUploadHandler):
    """Holds small files in memory and large ones in temporary files that no name leads to."""

    part: Part | None = None

    def new_file(self, field_name: str, file_name: str, *more: Any, **named: Any) -> None:
        file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (closed with the form)
        self.part = Part(field_name, file_name, file)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.part
        self.part.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        part, self.part = self.part, None
        return part

    def upload_interrupted(self) -> None:
        if self.part:
            self.part.close()
