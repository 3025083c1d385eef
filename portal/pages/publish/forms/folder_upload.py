"""Uploads of folders with the paths of their files; Django itself keeps only the last part of a path."""

import json
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.core.files.uploadedfile import InMemoryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser
from django.utils.datastructures import MultiValueDict

from portal.errors import UPLOAD_PARTS_INVALID

_MAX_PATH = 1000  # length of a path; package validation is stricter


class FolderFile(InMemoryUploadedFile):
    """An uploaded file with the ``path`` that the browser sent; package validation must check the path."""

    def __init__(self, path: str, *parts: Any) -> None:
        super().__init__(*parts)
        self.path = path


class _PathParser(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str | None:
        return file_name[:_MAX_PATH] if file_name.strip("/. ") else None


class _FolderHandler(FileUploadHandler):
    """Stores uploaded files in memory, which is safe because the request's length was checked before."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.chunks: list[bytes] = []

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.chunks.append(raw_data)

    def file_complete(self, file_size: int) -> FolderFile:
        stream = BytesIO(b"".join(self.chunks))
        self.chunks = []
        return FolderFile(
            self.file_name or "",
            stream,
            self.field_name,
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
        )


def _parse(request: HttpRequest, META: Any, post_data: Any) -> tuple[QueryDict, MultiValueDict[str, Any]]:
    handlers = [_FolderHandler(request)]
    return _PathParser(META, post_data, handlers, request.encoding).parse()


def keep_folders(request: HttpRequest) -> None:
    """Makes Django parse files as ``FolderFile``. Call this before any code reads ``request.POST``."""
    request.parse_file_upload = partial(_parse, request)  # type: ignore[method-assign]


def split_folder(request: HttpRequest) -> None:
    """Replaces a folder that ``skillquay.js`` has joined to one upload by its files. The field ``parts``
    lists their paths and sizes in the order of the content.

    Raises UPLOAD_PARTS_INVALID unless the list fits the content. Raises RequestDataTooBig and
    TooManyFilesSent above the limits of a package, like the parser of a form with the files themselves.
    """
    joined = request.FILES.get("folder")
    if joined is None or isinstance(joined, FolderFile):
        return
    if (joined.size or 0) > settings.SKILLQUAY_MAX_UNPACKED_BYTES:
        raise RequestDataTooBig
    parts = list(_parts(request.POST.get("parts", "")))
    if len(parts) > settings.DATA_UPLOAD_MAX_NUMBER_FILES:
        raise TooManyFilesSent
    if sum(size for _path, size in parts) != joined.size:
        raise UPLOAD_PARTS_INVALID.refusal()
    with joined:
        contents = [BytesIO(joined.read(size)) for _path, size in parts]
    files: list[UploadedFile[Any]] = [
        FolderFile(path, content, "folder", path, None, size, None)
        for (path, size), content in zip(parts, contents, strict=True)
    ]
    request.FILES.setlist("folder", files)


def _parts(text: str) -> Iterator[tuple[str, int]]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise UPLOAD_PARTS_INVALID.refusal()
    for row in rows:
        match row:
            case [str(path), int(size)] if size >= 0 and path.strip("/. ") and path.isprintable():
                yield path[:_MAX_PATH], size
            case _:
                raise UPLOAD_PARTS_INVALID.refusal()


def folder_files(files: list[FolderFile]) -> list[tuple[str, bytes]]:
    """Path and bytes of each file; paths begin with the name of the uploaded folder."""
    return [(file.path, file.read()) for file in files]
