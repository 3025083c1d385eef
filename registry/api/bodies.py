"""Reads untrusted request bodies within limits: strict JSON, raw bytes and multipart forms."""

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

from registry.api import errors
from registry.packages.archive.paths import printable
from registry.packages.problems import Refusal

MAX_DEPTH = 64
MAX_CONTAINERS = 50_000  # lists and objects per body; bounds the work, because each is visited several times
CHUNK_BYTES = 65_536
FORM_TYPE = "multipart/form-data"
_MAX_IN_MEMORY_BYTES = 2**20
_MAX_ANNOUNCED_BYTES = 2**40  # upper bound of Content-Length; each endpoint has its own, lower limit


@dataclass(frozen=True)
class FormPart:
    """An uploaded file of a form. ``path`` is the unchecked file name from the client, with folders."""

    field: str
    path: str
    file: IO[bytes]

    def read(self) -> bytes:
        self.file.seek(0)
        return self.file.read()

    def chunks(self) -> Iterator[bytes]:
        self.file.seek(0)
        return iter(lambda: self.file.read(CHUNK_BYTES), b"")

    def close(self) -> None:
        self.file.close()


@dataclass(frozen=True)
class Form:
    fields: dict[str, str]
    parts: tuple[FormPart, ...]

    def parts_of(self, field: str) -> list[FormPart]:
        return [part for part in self.parts if part.field == field]


class StrictJson(BaseParser):
    """Parses a JSON body with ``strict_json``. Raises BODY_TOO_LARGE above SKILLQUAY_MAX_REQUEST_BYTES."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        data = stream.read(settings.SKILLQUAY_MAX_REQUEST_BYTES + 1)
        if len(data) > settings.SKILLQUAY_MAX_REQUEST_BYTES:
            raise errors.BODY_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_REQUEST_BYTES)
        return strict_json(data)


class RawBody(BaseParser):
    """Accepts every media type and does not read the body, so that the view can read it in chunks."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        return {}


def strict_json(data: bytes) -> Any:
    """The parsed JSON document. It contains only values that every database and client can store.

    Raises JSON_INVALID for bad syntax or encoding, duplicate keys, more than MAX_DEPTH levels or
    MAX_CONTAINERS lists and objects, NaN, infinite numbers, NUL and lone surrogates.
    """
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
        raise errors.JSON_INVALID.refusal(reason=f"more than {MAX_CONTAINERS} lists and objects")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise errors.JSON_INVALID.refusal(reason=f"{error.msg}, line {error.lineno}").at(
            line=error.lineno
        ) from None
    except UnicodeDecodeError as error:
        raise errors.JSON_INVALID.refusal(reason=f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise errors.JSON_INVALID.refusal(reason=str(error)[:200]) from None
    _check(value, "", MAX_DEPTH)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f'duplicate key "{printable(duplicate, 80)}"')
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _check(value: Any, pointer: str, levels_left: int) -> None:
    """Raises JSON_INVALID for NUL, lone surrogates and deep nesting, which Python's parser accepts."""
    if isinstance(value, str):
        if "\0" in value or not _encodable(value):
            raise errors.JSON_INVALID.refusal(reason="a text contains NUL or a lone surrogate").at(pointer)
    elif isinstance(value, dict | list):
        if levels_left == 0:
            raise _too_deep()
        if isinstance(value, dict):
            _check("".join(value), pointer, levels_left)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, str | dict | list):
                _check(item, f"{pointer}/{str(key)[:200]}", levels_left - 1)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep() -> Refusal:
    return errors.JSON_INVALID.refusal(reason=f"more than {MAX_DEPTH} levels")


def require_length(request: HttpRequest, *, encodings: tuple[str, ...] = ()) -> None:
    """Checks the headers of a request before its body is read.

    Raises MEDIA_TYPE_UNSUPPORTED for a Content-Encoding that is not in ``encodings``, LENGTH_REQUIRED for a
    chunked body without a Content-Length, and BODY_TOO_LARGE above 1 TiB.
    """
    encoding = request.headers.get("Content-Encoding", "")
    if encoding and encoding.lower() not in encodings:
        raise errors.MEDIA_TYPE_UNSUPPORTED.refusal(type=encoding[:100], accepted="identity")
    if "chunked" in request.headers.get("Transfer-Encoding", "").lower() and not content_length(request):
        raise errors.LENGTH_REQUIRED.refusal()
    if content_length(request) > _MAX_ANNOUNCED_BYTES:
        raise errors.BODY_TOO_LARGE.refusal(limit=_MAX_ANNOUNCED_BYTES)


def media_type(request: Request) -> str:
    """The type of the body in lower case, without parameters; "" if the request names none."""
    return (request.content_type or "").split(";")[0].strip().lower()


def content_length(request: HttpRequest | Request) -> int:
    text = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 100 else 0


def body_chunks(request: Request, *, limit: int) -> Iterator[bytes]:
    """Yields the raw body in chunks of at most CHUNK_BYTES; nothing without a Content-Length. Raises
    BODY_TOO_LARGE above ``limit`` bytes, and BODY_INVALID if the body is shorter than its Content-Length.
    """
    announced, read = content_length(request), 0
    if announced > limit:
        raise errors.BODY_TOO_LARGE.refusal(limit=limit)
    while read < announced and (chunk := request._request.read(min(CHUNK_BYTES, announced - read))):
        read += len(chunk)
        yield chunk
    if read < announced:
        raise errors.BODY_INVALID.refusal(reason=f"it ended after {read} of {announced} bytes")


def read_form(request: Request, *, limit: int) -> Form:
    """Reads a multipart form of at most ``limit`` bytes. The files are closed with the request. Unlike
    Django's parser, keeps the folders in file names.

    Raises BODY_TOO_LARGE, or BODY_INVALID if the form is malformed.
    """
    if content_length(request) > limit:
        raise errors.BODY_TOO_LARGE.refusal(limit=limit)
    collect = _PartCollector()
    try:
        fields, files = _Multipart(request.META, request._request, [collect], "utf-8").parse()
        setattr(request._request, "_files", files)  # noqa: B010  (closed with the request)
    except (MultiPartParserError, ValueError, UnicodeError) as error:
        raise errors.BODY_INVALID.refusal(reason=str(error)[:200]) from None
    except RequestDataTooBig:
        raise errors.BODY_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_REQUEST_BYTES) from None
    finally:
        collect.upload_interrupted()
    parts = tuple(part for _, many in files.lists() for part in many)
    return Form({key: str(value) for key, value in fields.items()}, parts)


class _Multipart(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str:
        return file_name


class _PartCollector(FileUploadHandler):
    """Keeps files of up to 1 MiB in memory and larger ones in unnamed temporary files."""

    part: FormPart | None = None

    def new_file(self, field_name: str, file_name: str, *more: Any, **named: Any) -> None:
        file = tempfile.SpooledTemporaryFile(max_size=_MAX_IN_MEMORY_BYTES)  # noqa: SIM115  (closed with the form)
        self.part = FormPart(field_name, file_name, file)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.part
        self.part.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        part, self.part = self.part, None
        return part

    def upload_interrupted(self) -> None:
        if self.part:
            self.part.close()
