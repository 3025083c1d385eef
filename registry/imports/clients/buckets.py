"""A client for S3-compatible buckets that sends its requests, signed if there are keys, through ``fetch``."""

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

from registry.core.limits import import_limits
from registry.http_client.errors import OUTBOUND_STATUS
from registry.http_client.fetch import FetchResponse, fetch
from registry.http_client.response import OnRead
from registry.imports.clients.credentials import Credentials
from registry.imports.readers.errors import SOURCE_ANSWER, SOURCE_TOO_LARGE
from registry.packages.problems import gettext_noop as _

_MAX_LISTING_BYTES = 4 * 2**20  # per page


@dataclass(frozen=True)
class BucketObject:
    key: str
    etag: str
    size: int


@dataclass(frozen=True)
class Bucket:
    """The bucket of an ``s3://`` or ``gs://`` location, with its endpoint and credentials."""

    name: str
    endpoint: str
    region: str
    keys: Credentials
    on_read: OnRead | None = None

    @classmethod
    def of(cls, location: str, keys: Credentials, *, on_read: OnRead | None = None) -> Bucket:
        parts = urlsplit(location)
        region = keys.region or ("auto" if parts.scheme == "gs" else "us-east-1")
        default_host = "storage.googleapis.com" if parts.scheme == "gs" else f"s3.{region}.amazonaws.com"
        return cls(parts.netloc, keys.endpoint or f"https://{default_host}", region, keys, on_read)

    def get(self, key: str, *, headers: Mapping[str, str] | None = None, limit: int) -> FetchResponse:
        return self._fetch(f"/{quote(key, safe='/~')}", headers or {}, limit)

    def list_objects(self, prefix: str, *, page_of: int = 1000) -> Iterator[BucketObject]:
        """Yields the objects under the prefix in key order, from one request per page. Raises
        SOURCE_TOO_LARGE above SKILLQUAY_MAX_IMPORT_ENTRIES, SOURCE_ANSWER for an invalid listing, and
        OUTBOUND_… refusals.
        """
        after, count = "", 0
        while True:
            query = f"list-type=2&max-keys={page_of}&prefix={quote(prefix, safe='~')}"
            query += f"&start-after={quote(after, safe='~')}" if after else ""
            answer = self._fetch(f"?{query}", {}, _MAX_LISTING_BYTES)
            self._require_ok(answer)
            page = list(self._parse_listing(answer.body))
            yield from page
            count += len(page)
            if count > settings.SKILLQUAY_MAX_IMPORT_ENTRIES:
                raise SOURCE_TOO_LARGE.refusal(limit=settings.SKILLQUAY_MAX_IMPORT_ENTRIES, unit=_("objects"))
            if not page or b"<IsTruncated>true" not in answer.body:
                return
            after = page[-1].key

    def read_object(self, item: BucketObject) -> bytes:
        answer = self.get(item.key, limit=min(item.size, import_limits().unpacked))
        self._require_ok(answer)
        return answer.body

    def _parse_listing(self, body: bytes) -> Iterator[BucketObject]:
        host = urlsplit(self.endpoint).netloc
        try:
            if b"<!DOCTYPE" in body:
                raise ValueError
            for element in ElementTree.fromstring(body).iter():
                if element.tag.rpartition("}")[2] == "Contents":
                    fields = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
                    yield BucketObject(fields["Key"], fields.get("ETag", ""), int(fields["Size"]))
        except (ElementTree.ParseError, ValueError, KeyError):
            reason = _("it is not a bucket listing")
            raise SOURCE_ANSWER.refusal(host=host, reason=reason).at(host) from None

    def _require_ok(self, answer: FetchResponse) -> None:
        if answer.status != 200:
            host = urlsplit(self.endpoint).netloc
            raise OUTBOUND_STATUS.refusal(host=host, status=answer.status).at(host)

    def _fetch(self, rest: str, headers: Mapping[str, str], limit: int) -> FetchResponse:
        request = AWSRequest("GET", f"{self.endpoint.rstrip('/')}/{self.name}{rest}", headers=dict(headers))
        if self.keys.access_key:
            S3SigV4Auth(Keys(self.keys.access_key, self.keys.secret_key), "s3", self.region).add_auth(request)
        seconds = settings.SKILLQUAY_OUTBOUND_SECONDS
        headers = dict(request.headers.items())
        return fetch(request.url, headers=headers, limit=limit, timeout=seconds, on_read=self.on_read)


def listing_digest(items: list[BucketObject]) -> str:
    """The digest of the keys, ETags and sizes, which identifies the state of the objects without reading
    them.
    """
    fields = "\n".join(f"{item.key}\0{item.etag}\0{item.size}" for item in items)
    return f"sha256:{hashlib.sha256(fields.encode()).hexdigest()}"
