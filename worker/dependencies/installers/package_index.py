"""Serves pages and files of the site's package indexes to a build's sandbox.

URLs and credentials stay outside the sandbox, which reaches only this server.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from registry.http_client import fetch as outbound
from registry.http_client.errors import OUTBOUND_STATUS, OUTBOUND_TOO_LARGE
from registry.packages.problems import Refusal
from worker.dependencies.errors import DEPENDENCIES_DISABLED
from worker.sandbox.policy import HttpReply

_PAGE_BYTES = 64 << 20
_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = f"{_JSON}, application/vnd.pypi.simple.v1+html;q=0.5, text/html;q=0.2"
_PAGE = re.compile(r"/simple/([a-z0-9][a-z0-9-]{0,199})/")
_STATUSES = frozenset(HTTPStatus)
_FILE = re.compile(r"/file/(\d{1,7})/[^/]{1,255}?(\.metadata)?")


@dataclass
class Source:
    """A registry that the site's settings name. ``remaining_bytes`` limits all files together; ``error`` is
    the last refusal.

    ``setting`` names the setting with its URL; ``seconds`` is the time limit of each request.
    """

    url: str
    remaining_bytes: int
    seconds: float
    kind: str = ""
    setting: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    error: Refusal | None = None

    @classmethod
    def required(cls, setting: str, kind: str) -> Source:
        """The registry at the URL in ``setting``; raises DEPENDENCIES_DISABLED if the setting is empty.

        Credentials in the URL become a header.
        """
        if not (address := getattr(settings, setting)):
            raise DEPENDENCIES_DISABLED.refusal(kind=kind, setting=setting)
        parts = urlsplit(address)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/") + "/"
        max_bytes = 2 * settings.SKILLQUAY_DEPENDENCIES_MB << 20
        source = cls(bare, max_bytes, settings.SKILLQUAY_DEPENDENCIES_SECONDS, kind, setting)
        if parts.username is not None:
            credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            source.headers["Authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode()
        return source

    def page(self, path: str, accept: str) -> outbound.FetchResponse:
        try:
            return outbound.fetch(
                self.url + path,
                headers={**self.headers, "Accept": accept},
                limit=_PAGE_BYTES,
                timeout=self.seconds,
            )
        except Refusal as error:
            self.error = error
            raise

    def find_page(self, path: str, accept: str) -> outbound.FetchResponse | None:
        """Fetches the page at ``path``; None for status 404.

        Raises OUTBOUND_STATUS for other statuses except 200. Keeps each refusal in ``error``.
        """
        found = self.page(path, accept)
        if found.status not in (200, 404):
            self.error = OUTBOUND_STATUS.refusal(host=urlsplit(self.url).hostname, status=found.status)
            raise self.error
        return found if found.status == 200 else None

    def file(self, url: str, content_type: str = "application/octet-stream") -> HttpReply:
        """Streams the file at ``url``. Returns after the first piece has arrived, when the status is known.

        Forwards error statuses, so that the installer can retry or fail; other statuses except 200 become
        502. Stores each refusal in ``error``.
        """
        pieces = self._pieces(url)
        try:
            first = next(pieces, b"")
        except Refusal as error:
            if error.code != OUTBOUND_STATUS.name:
                raise
            return HttpReply(_error_status(error.problems[0].params["status"]))
        return HttpReply(200, _chain(first, pieces), content_type)

    def _pieces(self, url: str) -> Iterator[bytes]:
        of_source = urlsplit(url)[:2] == urlsplit(self.url)[:2]
        headers = self.headers if of_source else {}
        limit = max(self.remaining_bytes, 0)
        try:
            with outbound.stream(url, headers=headers, limit=limit, timeout=self.seconds) as answer:
                answer.require(200)
                for piece in answer.iter_chunks():
                    self.remaining_bytes -= len(piece)
                    if self.remaining_bytes < 0:
                        raise OUTBOUND_TOO_LARGE.refusal(host=urlsplit(url).hostname, limit=limit)
                    yield piece
        except Refusal as error:
            self.error = error
            raise


def _error_status(status: object) -> int:
    """The status if it is a standard error status, otherwise 502."""
    return status if isinstance(status, int) and status >= 400 and status in _STATUSES else 502


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


@dataclass
class PythonIndex:
    """A simple index (PEP 503, PEP 691) that lists only wheels of the requested package."""

    source: Source
    files: list[str] = field(default_factory=list)  # the URLs of files by number

    def answer(self, target: str) -> HttpReply:
        if page := _PAGE.fullmatch(target):
            return self._page(page[1])
        match = _FILE.fullmatch(target)
        if match and int(match[1]) < len(self.files):
            return self.source.file(self.files[int(match[1])] + (match[2] or ""))
        return HttpReply(404)

    def _page(self, name: str) -> HttpReply:
        found = self.source.find_page(f"{name}/", _ACCEPT)
        if found is None:
            return HttpReply(404)
        rows = [row for row in _rows(found) if _is_wheel_of(row, name)]
        body = json.dumps(
            {"meta": {"api-version": "1.0"}, "name": name, "files": [*map(self._served_row, rows)]}
        )
        return HttpReply(200, iter([body.encode()]), _JSON, len(body.encode()))

    def _served_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row with a URL of this server, reduced to the fields that a resolver reads."""
        self.files.append(row["url"])
        extra = {name: row[name] for name in ("requires-python", "yanked") if row.get(name) is not None}
        metadata = row.get("core-metadata") or row.get("dist-info-metadata") or False
        url = f"/file/{len(self.files) - 1}/{row['filename']}"
        return {
            "filename": row["filename"],
            "url": url,
            "hashes": row.get("hashes") or {},
            "dist-info-metadata": metadata,
            **extra,
        }


def _is_wheel_of(row: Mapping[str, Any], name: str) -> bool:
    try:
        return canonicalize_name(parse_wheel_filename(row["filename"])[0]) == name
    except (InvalidWheelFilename, KeyError, TypeError, ValueError):
        return False


def _rows(found: outbound.FetchResponse) -> list[dict[str, Any]]:
    """The files that an index page lists, with absolute URLs; empty for an unreadable page."""
    text = found.body.decode("utf-8", "replace")
    try:
        if "json" in found.headers.get("content-type", ""):
            rows = [dict(row) for row in json.loads(text)["files"]]
        else:
            links = _LinkParser()
            links.feed(text)
            rows = links.rows
        return [{**row, "url": urljoin(found.url, row["url"])} for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        return []


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag != "a" or not attributes.get("href"):
            return
        url, _, fragment = str(attributes["href"]).partition("#")
        algorithm, _, value = fragment.partition("=")
        row: dict[str, Any] = {"url": url, "filename": unquote(urlsplit(url).path.rpartition("/")[2])}
        row["hashes"] = {algorithm: value} if algorithm == "sha256" else {}
        row["requires-python"] = attributes.get("data-requires-python")
        row["yanked"] = attributes.get("data-yanked") or ("data-yanked" in attributes) or None
        row["core-metadata"] = "data-core-metadata" in attributes or "data-dist-info-metadata" in attributes
        self.rows.append(row)


@dataclass
class NodeRegistry:
    """A registry that serves only the archives of one lock, and 404 for all other paths."""

    source: Source
    archives: frozenset[str]

    def answer(self, target: str) -> HttpReply:
        path = unquote(target.removeprefix("/"))
        return self.source.file(self.source.url + path) if path in self.archives else HttpReply(404)
