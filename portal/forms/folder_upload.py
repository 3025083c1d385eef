"""A browser's folder upload with its folders: Django drops them twice, in parser and file name."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser
from django.utils.datastructures import MultiValueDict

_LONGEST = 1000  # characters of a path; the gate's own rule is stricter


class FolderFile(InMemoryUploadedFile):
    """An uploaded file that remembers ``path``: what the browser said, for the gate to judge."""

    def __init__(self, path: str, *parts: Any) -> None:
        super().__init__(*parts)
        self.path = path


class _KeepingPathParser(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str | None:
        return file_name[:_LONGEST] if file_name.strip("/. ") else None


class _FolderHandler(FileUploadHandler):
    """Keeps files in memory: the request's length was checked before it was read."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.pieces: list[bytes] = []

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.pieces.append(raw_data)

    def file_complete(self, file_size: int) -> FolderFile:
        stream = BytesIO(b"".join(self.pieces))
        self.pieces = []
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
    return _KeepingPathParser(META, post_data, handlers, request.encoding).parse()


def keep_folders(request: HttpRequest) -> None:
    """To be called before anything reads ``request.POST``: its files are then FolderFiles."""
    request.parse_file_upload = partial(_parse, request)  # type: ignore[method-assign]


def folder_files(files: list[FolderFile]) -> list[tuple[str, bytes]]:
    """Paths and bytes; the gate takes the one wrapping folder off."""
    return [(file.path, file.read()) for file in files]
