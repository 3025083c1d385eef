"""Requests to S3-compatible buckets, signed here and sent through the one door out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Keys
from django.conf import settings

from registry.imports.credentials import Credentials
from registry.limits import import_limits
from registry.outbound import Fetched, fetch
from registry.packages.problems import refuse

_LISTING = 4 * 2**20  # bytes of one page of a listing


@dataclass(frozen=True)
class Item:
    key: str
    etag: str
    size: int


@dataclass(frozen=True)
class Bucket:
    """``s3://name`` or ``gs://name`` as its credentials reach it."""

    name: str
    endpoint: str
    region: str
    keys: Credentials

    @classmethod
    def of(cls, location: str, keys: Credentials) -> Bucket:
        parts = urlsplit(location)
        region = keys.region or ("auto" if parts.scheme == "gs" else "us-east-1")
        usual = "storage.googleapis.com" if parts.scheme == "gs" else f"s3.{region}.amazonaws.com"
        return cls(parts.netloc, keys.endpoint or f"https://{usual}", region, keys)

    def get(self, key: str, *, headers: Mapping[str, str] | None = None, limit: int) -> Fetched:
        return self._fetch(f"/{quote(key, safe='/~')}", headers or {}, limit)

    def items(self, prefix: str, *, page_of: int = 1000) -> Iterator[Item]:
        """What lies under the prefix, by key; refuses more than an import may hold."""
        after, seen = "", 0
        while True:
            query = f"list-type=2&max-keys={page_of}&prefix={quote(prefix, safe='~')}"
            query += f"&start-after={quote(after, safe='~')}" if after else ""
            answer = self._fetch(f"?{query}", {}, _LISTING)
            self._require(answer)
            page = list(self._listed(answer.body))
            yield from page
            seen += len(page)
            if seen > settings.SKILLQUAY_IMPORT_ENTRIES:
                raise refuse("SOURCE_TOO_LARGE", limit=settings.SKILLQUAY_IMPORT_ENTRIES)
            if not page or b"<IsTruncated>true" not in answer.body:
                return
            after = page[-1].key

    def whole(self, item: Item) -> bytes:
        answer = self.get(item.key, limit=min(item.size, import_limits().unpacked))
        self._require(answer)
        return answer.body

    def _listed(self, body: bytes) -> Iterator[Item]:
        host = urlsplit(self.endpoint).netloc
        try:
            if b"<!DOCTYPE" in body:
                raise ValueError
            for element in ElementTree.fromstring(body).iter():
                if element.tag.rpartition("}")[2] == "Contents":
                    said = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
                    yield Item(said["Key"], said.get("ETag", ""), int(said["Size"]))
        except (ElementTree.ParseError, ValueError, KeyError):
            raise refuse(
                "SOURCE_ANSWER", path=host, host=host, reason="it is no listing of a bucket"
            ) from None

    def _require(self, answer: Fetched) -> None:
        if answer.status != 200:
            host = urlsplit(self.endpoint).netloc
            raise refuse("OUTBOUND_STATUS", path=host, host=host, status=answer.status)

    def _fetch(self, rest: str, headers: Mapping[str, str], limit: int) -> Fetched:
        request = AWSRequest("GET", f"{self.endpoint.rstrip('/')}/{self.name}{rest}", headers=dict(headers))
        if self.keys.access_key:
            S3SigV4Auth(Keys(self.keys.access_key, self.keys.secret_key), "s3", self.region).add_auth(request)
        seconds = settings.SKILLQUAY_OUTBOUND_SECONDS
        return fetch(request.url, headers=dict(request.headers.items()), limit=limit, timeout=seconds)


def state_of(items: list[Item]) -> str:
    """A name for what lies there, without reading it."""
    said = "\n".join(f"{item.key}\0{item.etag}\0{item.size}" for item in items)
    return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"
