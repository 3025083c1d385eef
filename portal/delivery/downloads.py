"""Responses that send files as downloads, and the CSV and temporary files for them."""

import csv
import io
import tempfile
from collections.abc import Iterable
from typing import IO

from django.conf import settings
from django.http import FileResponse

from registry.api.attachments import disable_rendering

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def as_file(chunks: Iterable[bytes]) -> IO[bytes]:
    """Writes the chunks to an unnamed temporary file and returns it, open at its start. The caller closes
    it.
    """
    file = tempfile.TemporaryFile(dir=str(settings.SKILLQUAY_VAR))  # noqa: SIM115  (closed with the response)
    file.writelines(chunks)
    file.seek(0)
    return file


def download(file: IO[bytes], name: str, content_type: str) -> FileResponse:
    """Returns a download of ``file``. The server sends it without occupying a thread, even to slow
    clients.
    """
    response = disable_rendering(FileResponse(file, content_type=content_type), name)
    response["Cache-Control"] = "private, no-store"
    return response


def csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    """The rows as CSV in UTF-8. An apostrophe is put before text that a spreadsheet would read as a
    formula.
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows([[_cell(value) for value in row] for row in rows])
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
