"""``https://`` to an archive or a SKILL.md, ``s3://`` and ``gs://`` to one or to a prefix full of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings

from registry.actors import Actor
from registry.imports import options as reading
from registry.imports.archives import read_archive, read_entries
from registry.imports.buckets import Bucket, Item, state_of
from registry.imports.credentials import credentials_for, credentials_of
from registry.imports.found import Found, Passed, Reading
from registry.imports.remembering import seen_whole
from registry.limits import import_limits
from registry.models import Source
from registry.outbound import Fetched, fetch
from registry.outbound.addresses import target
from registry.packages.entries import Entry
from registry.packages.frontmatter import SKILL_MD
from registry.packages.problems import problem, refuse

_BUCKETS = ("s3", "gs")
_ETAG = 100  # characters that Source.seen holds


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    parts = urlsplit(location)
    if parts.scheme not in _BUCKETS:
        target(location)
    elif not parts.netloc or parts.query or parts.fragment or "@" in parts.netloc:
        raise refuse(
            "SOURCE_ADDRESS",
            path="location",
            location=location[:200],
            reason="it needs a bucket and nothing but a key behind it",
            example="s3://bucket/skills/",
        )
    return location, reading.checked(options, texts=("credentials",))


def read(source: Source, actor: Actor, scratch: Path) -> Reading:
    if urlsplit(source.location).scheme in _BUCKETS:
        return _bucket(source, scratch)

    def ask(headers: Mapping[str, str]) -> Fetched:
        with_token = {**headers, **credentials_for(source).bearer()}
        seconds = settings.SKILLQUAY_OUTBOUND_SECONDS
        return fetch(source.location, headers=with_token, limit=import_limits().archive, timeout=seconds)

    return _one(source, scratch, ask)


def _one(source: Source, scratch: Path, ask: Callable[[Mapping[str, str]], Fetched]) -> Reading:
    """One object; where it says by an ETag that it is as it was, its bytes are not sent again."""
    seen = seen_whole(source)
    answer = ask({"if-none-match": seen} if seen and not seen.startswith("sha256:") else {})
    if answer.status == 304:
        return Reading((), seen, is_unchanged=True)
    if answer.status != 200:
        host = urlsplit(answer.url).netloc
        raise refuse("OUTBOUND_STATUS", path=host, host=host, status=answer.status)
    etag = answer.headers.get("etag", "")
    state = etag if 0 < len(etag) <= _ETAG else f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
    if state == seen:
        return Reading((), seen, is_unchanged=True)
    return Reading(_opened(source, answer.body, scratch), state)


def _opened(source: Source, data: bytes, scratch: Path) -> Iterable[Found | Passed]:
    path = unquote(urlsplit(source.location).path)
    name = PurePosixPath(path).name
    provenance = reading.provenance(address=source.location)
    if data[:2] in (b"PK", b"\x1f\x8b"):
        stem = name.partition(".")[0]
        return read_archive(data, scratch, source="address", provenance=provenance, name=stem)
    if name.lower().endswith(".md") or data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:3] == b"---":
        stem = PurePosixPath(path).parent.name if name.lower() == "skill.md" else name.partition(".")[0]
        entry = Entry(SKILL_MD, data)
        return (Found(name or SKILL_MD, "address", lambda: [entry], stem, provenance=provenance),)
    raise refuse("SOURCE_CONTENT", path="location")


def _bucket(source: Source, scratch: Path) -> Reading:
    bucket = Bucket.of(source.location, credentials_of(source))
    key = unquote(urlsplit(source.location).path).lstrip("/")
    items = list(bucket.items(key))
    if any(item.key == key for item in items) and not key.endswith("/"):
        limit = import_limits().archive
        return _one(source, scratch, lambda headers: bucket.get(key, headers=headers, limit=limit))
    folder = key if not key or key.endswith("/") else key + "/"
    items = [item for item in items if item.key.startswith(folder) and not item.key.endswith("/")]
    if not items:
        raise refuse("SOURCE_EMPTY", path="location", location=source.location)
    if (state := state_of(items)) == seen_whole(source):
        return Reading((), state, is_unchanged=True)
    return Reading(_under(source, bucket, folder, items, scratch), state)


def _under(
    source: Source, bucket: Bucket, folder: str, items: list[Item], scratch: Path
) -> Iterable[Found | Passed]:
    """Every object under a prefix, as the files of a folder."""
    limit = import_limits().unpacked
    if sum(item.size for item in items) > limit:
        raise refuse("SOURCE_TOO_LARGE", limit=limit)
    paths = {item: item.key.removeprefix(folder) for item in items}
    sound = [item for item in items if _is_path(paths[item])]
    entries = (Entry(paths[item], bucket.whole(item)) for item in sound)
    name = PurePosixPath(folder).name or bucket.name
    provenance = reading.provenance(address=source.location)
    yield from read_entries(entries, scratch, source="address", provenance=provenance, name=name)
    for item in items:
        if not _is_path(paths[item]):
            yield Passed(paths[item][:1000], problem("SOURCE_NAME"))


def _is_path(key: str) -> bool:
    return not {"", ".", ".."} & set(key.split("/"))
