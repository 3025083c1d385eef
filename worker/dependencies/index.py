"""The one way out of a build: pages and files of the site's index, fetched here and given on by number.

Addresses and credentials stay on this side; inside there is http://127.0.0.1:3128 and nothing else.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from registry import outbound
from registry.packages.problems import Refused, refuse
from worker.sandbox.policy import Reply

_PAGE_BYTES = 64 << 20
_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.5, text/html;q=0.2"
_PAGE = re.compile(r"/simple/([a-z0-9][a-z0-9-]{0,199})/")
_FILE = re.compile(r"/file/(\d{1,7})/[^/]{1,255}?(\.metadata)?")


@dataclass
class Source:
    """A registry of the site's: where it is, and what is said to it; ``left`` is what may still be read."""

    url: str
    left: int
    seconds: float
    kind: str = ""
    setting: str = ""  # that names it
    headers: dict[str, str] = field(default_factory=dict)
    trouble: Refused | None = None

    @classmethod
    def required(cls, setting: str, kind: str) -> Source:
        """That of the setting; DEPENDENCIES_OFF where the site names none."""
        if not (address := getattr(settings, setting)):
            raise refuse("DEPENDENCIES_OFF", kind=kind, setting=setting)
        parts = urlsplit(address)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/") + "/"
        most = 2 * settings.SKILLQUAY_DEPENDENCIES_MB << 20
        source = cls(bare, most, settings.SKILLQUAY_DEPENDENCIES_SECONDS, kind, setting)
        if parts.username is not None:
            given = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            source.headers["Authorization"] = "Basic " + base64.b64encode(given.encode()).decode()
        return source

    def page(self, path: str, accept: str) -> outbound.Fetched:
        try:
            return outbound.fetch(
                self.url + path,
                headers={**self.headers, "Accept": accept},
                limit=_PAGE_BYTES,
                timeout=self.seconds,
            )
        except Refused as no:
            self.trouble = no
            raise

    def wanted(self, path: str, accept: str) -> outbound.Fetched | None:
        """The page, None where there is none; what is neither is trouble."""
        found = self.page(path, accept)
        if found.status not in (200, 404):
            self.trouble = refuse("OUTBOUND_STATUS", host=urlsplit(self.url).hostname, status=found.status)
            raise self.trouble
        return found if found.status == 200 else None

    def file(self, url: str, content_type: str = "application/octet-stream") -> Reply:
        """The file as it comes; the first piece is awaited, so that what is not there is said to be not."""
        pieces = self._pieces(url)
        try:
            first = next(pieces, b"")
        except Refused as no:
            if no.code != "OUTBOUND_STATUS":
                raise
            return Reply(404)
        return Reply(200, _joined(first, pieces), content_type)

    def _pieces(self, url: str) -> Iterator[bytes]:
        of_source = urlsplit(url)[:2] == urlsplit(self.url)[:2]
        headers = self.headers if of_source else {}
        limit = max(self.left, 0)
        try:
            with outbound.opened(url, headers=headers, limit=limit, timeout=self.seconds) as answer:
                answer.require(200)
                for piece in answer.pieces():
                    self.left -= len(piece)
                    if self.left < 0:
                        raise refuse("OUTBOUND_TOO_LARGE", host=urlsplit(url).hostname, limit=limit)
                    yield piece
        except Refused as no:
            self.trouble = no
            raise


def _joined(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


@dataclass
class PythonIndex:
    """A simple index (PEP 503, PEP 691) with nothing but wheels of the package that a page is about."""

    source: Source
    files: list[str] = field(default_factory=list)  # addresses, by number

    def answer(self, target: str) -> Reply:
        if page := _PAGE.fullmatch(target):
            return self._page(page[1])
        match = _FILE.fullmatch(target)
        if match and int(match[1]) < len(self.files):
            return self.source.file(self.files[int(match[1])] + (match[2] or ""))
        return Reply(404)

    def _page(self, name: str) -> Reply:
        found = self.source.wanted(f"{name}/", _ACCEPT)
        if found is None:
            return Reply(404)
        rows = [row for row in _rows(found) if _is_wheel_of(row, name)]
        body = json.dumps({"meta": {"api-version": "1.0"}, "name": name, "files": [*map(self._given, rows)]})
        return Reply(200, iter([body.encode()]), _JSON, len(body.encode()))

    def _given(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row with an address that leads here, of the rest only what a resolver asks for."""
        self.files.append(row["url"])
        kept = {name: row[name] for name in ("requires-python", "yanked") if row.get(name) is not None}
        metadata = row.get("core-metadata") or row.get("dist-info-metadata") or False
        url = f"/file/{len(self.files) - 1}/{row['filename']}"
        return {
            "filename": row["filename"],
            "url": url,
            "hashes": row.get("hashes") or {},
            "dist-info-metadata": metadata,
            **kept,
        }


def _is_wheel_of(row: Mapping[str, Any], name: str) -> bool:
    try:
        return canonicalize_name(parse_wheel_filename(row["filename"])[0]) == name
    except (InvalidWheelFilename, KeyError, TypeError, ValueError):
        return False


def _rows(found: outbound.Fetched) -> list[dict[str, Any]]:
    """The files of a page, each with its whole address; none of a page that cannot be read."""
    text = found.body.decode("utf-8", "replace")
    try:
        if "json" in found.headers.get("content-type", ""):
            rows = [dict(row) for row in json.loads(text)["files"]]
        else:
            links = _Links()
            links.feed(text)
            rows = links.rows
        return [{**row, "url": urljoin(found.url, row["url"])} for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        return []


class _Links(HTMLParser):
    """The links of an HTML page of an index, in the words of the JSON one."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag != "a" or not given.get("href"):
            return
        url, _, fragment = str(given["href"]).partition("#")
        algorithm, _, value = fragment.partition("=")
        row: dict[str, Any] = {"url": url, "filename": unquote(urlsplit(url).path.rpartition("/")[2])}
        row["hashes"] = {algorithm: value} if algorithm == "sha256" else {}
        row["requires-python"] = given.get("data-requires-python")
        row["yanked"] = given.get("data-yanked") or ("data-yanked" in given) or None
        row["core-metadata"] = "data-core-metadata" in given or "data-dist-info-metadata" in given
        self.rows.append(row)


@dataclass
class NodeRegistry:
    """A registry of which the archives of one lock are given, and nothing besides."""

    source: Source
    archives: frozenset[str]

    def answer(self, target: str) -> Reply:
        path = unquote(target.removeprefix("/"))
        return self.source.file(self.source.url + path) if path in self.archives else Reply(404)
