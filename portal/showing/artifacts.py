"""The files that a run left, each with what a page can show of it: a picture, a table, a tree, a text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass

from portal.showing.results import Shown, shown
from registry import storage
from registry.packages.problems import Refused
from worker.models import Artifact

_MOST_READ = 8  # files whose content a page holds
_LARGEST = 131_072  # bytes of such a file
_TOGETHER = 262_144  # of them all: to draw one may take a second
_LARGEST_IMAGE = 5 * 2**20
_VALUES = 600  # of each
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
class Left:
    """``shown`` is what is drawn of it, None where it is only downloaded; ``number`` makes ids."""

    file: Artifact
    number: int
    is_image: bool = False
    shown: Shown | None = None


def left_of(artifacts: Iterable[Artifact]) -> list[Left]:
    """In the order given; the first few small ones are read."""
    rows, read, left = [], 0, _TOGETHER
    for number, file in enumerate(artifacts, 1):
        found = _shown(file) if read < _MOST_READ and file.size <= left else None
        read += found is not None
        left -= file.size if found else 0
        rows.append(Left(file, number, _suffix(file) in _IMAGES and file.size <= _LARGEST_IMAGE, found))
    return rows


def image_type(first: bytes) -> str:
    """The media type of a picture by its first bytes, "" where it is none that is shown."""
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if first.startswith(signature)), "")


def _suffix(file: Artifact) -> str:
    return file.path.rpartition("/")[2].rpartition(".")[2].lower()


def _shown(file: Artifact) -> Shown | None:
    suffix = _suffix(file)
    if suffix not in _TEXTS or not 0 < file.size <= _LARGEST:
        return None
    try:
        text = storage.read(file.digest).decode("utf-8-sig")
    except (Refused, UnicodeDecodeError):
        return None  # gone, or no text: it can still be asked for
    if suffix in _TABLES:
        return _table(text, _TABLES[suffix])
    return _tree(text) if suffix == "json" else shown(text, format=_FORMATS.get(suffix, ""))


def _table(text: str, delimiter: str) -> Shown:
    """Rows under the first one; what is no such file is its text."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return shown(text)
    if len(rows) < 2 or not 1 < len(rows[0]) <= _COLUMNS:
        return shown(text)
    head, *body = rows
    drawn = tuple(tuple((row + [""] * len(head))[: len(head)]) for row in body[:_ROWS])
    return Shown("table", columns=tuple(head), rows=drawn, left_off=max(0, len(body) - _ROWS))


def _tree(text: str) -> Shown:
    try:
        return shown(json.loads(text), most=_VALUES)
    except (ValueError, RecursionError):
        return shown(text)
