"""Presents the files of a run: each as an image, a table, a tree, a text or only a download."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass

from portal.presenters.results import DisplayValue, display_value
from registry.packages.problems import Refusal
from registry.storage import blobs
from worker.models import Artifact

_MAX_READ = 8  # number of files whose content a page shows
_MAX_BYTES = 131_072  # bytes shown per file
_MAX_TOTAL_BYTES = 262_144  # bytes of all shown files, because rendering one may take a second
_MAX_IMAGE_BYTES = 5 * 2**20
_MAX_VALUES = 600  # values shown per file
_COLUMNS = 12
_ROWS = 100
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_IMAGES = ("png", "jpg", "jpeg", "gif", "webp")
_TABLES = {"csv": ",", "tsv": "\t"}
_FORMATS = {"md": "markdown", "markdown": "markdown"}
_TEXTS = (*_FORMATS, "txt", "log", "json", *_TABLES)


@dataclass(frozen=True)
class ArtifactRow:
    """A file of a run. ``content`` is None for images and for files that the page only links to.

    ``number`` counts from 1 and is part of the element ids on the page.
    """

    file: Artifact
    number: int
    is_image: bool = False
    content: DisplayValue | None = None


def artifact_rows(artifacts: Iterable[Artifact]) -> list[ArtifactRow]:
    """Rows in the given order; only the first few small text files are read and get ``content``."""
    rows, read, left = [], 0, _MAX_TOTAL_BYTES
    for number, file in enumerate(artifacts, 1):
        content = _content(file) if read < _MAX_READ and file.size <= left else None
        read += content is not None
        left -= file.size if content else 0
        rows.append(ArtifactRow(file, number, is_image(file.path, file.size), content))
    return rows


def is_image(path: str, size: int) -> bool:
    """Whether pages show the file as an image, by its name and size."""
    return _suffix(path) in _IMAGES and size <= _MAX_IMAGE_BYTES


def image_type(first: bytes) -> str:
    """The media type of an image by its first 12 bytes; "" if the image format is not supported."""
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if first.startswith(signature)), "")


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def _content(file: Artifact) -> DisplayValue | None:
    suffix = _suffix(file.path)
    if suffix not in _TEXTS or not 0 < file.size <= _MAX_BYTES:
        return None
    try:
        text = blobs.read(file.digest).decode("utf-8-sig")
    except (Refusal, UnicodeDecodeError):
        return None  # deleted or not text; the download link remains
    if suffix in _TABLES:
        return _table(text, _TABLES[suffix])
    return _tree(text) if suffix == "json" else display_value(text, format=_FORMATS.get(suffix, ""))


def _table(text: str, delimiter: str) -> DisplayValue:
    """A table with the first row as header.

    Returns the text instead if there are fewer than 2 rows, or the first row does not have 2 to ``_COLUMNS``
    columns.
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return display_value(text)
    if len(rows) < 2 or not 1 < len(rows[0]) <= _COLUMNS:
        return display_value(text)
    head, *body = rows
    drawn = tuple(tuple((row + [""] * len(head))[: len(head)]) for row in body[:_ROWS])
    return DisplayValue("table", columns=tuple(head), rows=drawn, omitted=max(0, len(body) - _ROWS))


def _tree(text: str) -> DisplayValue:
    try:
        return display_value(json.loads(text), max_values=_MAX_VALUES)
    except (ValueError, RecursionError):
        return display_value(text)
