"""Reads archives and SKILL.md files at ``https://`` URLs, and ``s3://`` or ``gs://`` objects and prefixes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings

from registry.core.limits import import_limits
from registry.http_client.addresses import parse_target
from registry.http_client.errors import OUTBOUND_STATUS
from registry.http_client.fetch import FetchResponse, fetch
from registry.identity.actors import Actor
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath, SourceContent
from registry.imports.clients.buckets import Bucket, BucketObject, listing_digest
from registry.imports.clients.credentials import load_credentials, load_url_credentials
from registry.imports.readers import errors
from registry.imports.readers import options as reading
from registry.imports.source_state import last_complete_state
from registry.imports.trees.archives import read_archive, read_entries
from registry.models import Source
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.problems import gettext_noop as _

_BUCKETS = ("s3", "gs")
_MAX_ETAG_CHARS = 100  # the length of the column Source.last_revision


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    if location.partition("://")[0].lower() not in _BUCKETS:
        parse_target(location)
    elif not _is_bucket_address(location):
        raise errors.SOURCE_ADDRESS.refusal(
            location=location[:200],
            reason=_("only a bucket and a key are allowed"),
            example="s3://bucket/skills/",
        ).at("location")
    return location, reading.validate_options(options, texts=("credentials",))


def _is_bucket_address(location: str) -> bool:
    try:
        parts = urlsplit(location)
    except ValueError:
        return False
    return bool(parts.netloc) and not (parts.query or parts.fragment or "@" in parts.netloc)


def read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    if urlsplit(source.location).scheme in _BUCKETS:
        return _read_bucket(source, scratch, progress)

    def request(headers: Mapping[str, str]) -> FetchResponse:
        with_token = {**headers, **load_url_credentials(source).bearer()}
        seconds = settings.SKILLQUAY_OUTBOUND_SECONDS
        return fetch(
            source.location,
            headers=with_token,
            limit=import_limits().archive,
            timeout=seconds,
            on_read=progress.add_bytes,
        )

    return _read_object(source, scratch, request)


def _read_object(
    source: Source, scratch: Path, request: Callable[[Mapping[str, str]], FetchResponse]
) -> SourceContent:
    """Reads a single archive or SKILL.md. Nothing is downloaded if the server confirms the ETag of the last
    import. Raises OUTBOUND_STATUS unless the status is 200 or 304, and SOURCE_CONTENT if the object is
    neither an archive nor a SKILL.md.
    """
    last_state = last_complete_state(source)
    answer = request(
        {"if-none-match": last_state} if last_state and not last_state.startswith("sha256:") else {}
    )
    if answer.status == 304:
        return SourceContent((), last_state, is_unchanged=True)
    if answer.status != 200:
        host = urlsplit(answer.url).netloc
        raise OUTBOUND_STATUS.refusal(host=host, status=answer.status).at(host)
    etag = answer.headers.get("etag", "")
    state = etag if 0 < len(etag) <= _MAX_ETAG_CHARS else f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
    if state == last_state:
        return SourceContent((), last_state, is_unchanged=True)
    return SourceContent(_object_candidates(source, answer.body, scratch), state)


def _object_candidates(source: Source, data: bytes, scratch: Path) -> Iterable[SkillCandidate | SkippedPath]:
    path = unquote(urlsplit(source.location).path)
    name = PurePosixPath(path).name
    provenance = reading.provenance(url=source.location)
    if data[:2] in (b"PK", b"\x1f\x8b"):
        stem = name.partition(".")[0]
        return read_archive(data, scratch, source="url", provenance=provenance, name=stem)
    if name.lower().endswith(".md") or data.lstrip(b"\xef\xbb\xbf\r\n\t ")[:3] == b"---":
        stem = PurePosixPath(path).parent.name if name.lower() == "skill.md" else name.partition(".")[0]
        entry = ArchiveEntry(SKILL_MD, data)
        return (SkillCandidate(name or SKILL_MD, "url", lambda: [entry], stem, provenance=provenance),)
    raise errors.SOURCE_CONTENT.refusal().at("location")


def _read_bucket(source: Source, scratch: Path, progress: ReadProgress) -> SourceContent:
    bucket = Bucket.of(source.location, load_credentials(source), on_read=progress.add_bytes)
    key = unquote(urlsplit(source.location).path).lstrip("/")
    items = list(bucket.list_objects(key))
    if any(item.key == key for item in items) and not key.endswith("/"):
        limit = import_limits().archive
        return _read_object(source, scratch, lambda headers: bucket.get(key, headers=headers, limit=limit))
    folder = key if not key or key.endswith("/") else key + "/"
    items = [item for item in items if item.key.startswith(folder) and not item.key.endswith("/")]
    if not items:
        raise errors.SOURCE_EMPTY.refusal(location=source.location).at("location")
    if (state := listing_digest(items)) == last_complete_state(source):
        return SourceContent((), state, is_unchanged=True)
    return SourceContent(_prefix_candidates(source, bucket, folder, items, scratch), state)


def _prefix_candidates(
    source: Source, bucket: Bucket, folder: str, items: list[BucketObject], scratch: Path
) -> Iterable[SkillCandidate | SkippedPath]:
    """Yields the candidates from the objects under a prefix, which are read like the files of a folder.
    Raises SOURCE_TOO_LARGE if the objects exceed the import limits.
    """
    limit = import_limits().unpacked
    if sum(item.size for item in items) > limit:
        raise errors.SOURCE_TOO_LARGE.refusal(limit=limit, unit=_("bytes"))
    paths = {item: item.key.removeprefix(folder) for item in items}
    valid = [item for item in items if _is_path(paths[item])]
    entries = (ArchiveEntry(paths[item], bucket.read_object(item)) for item in valid)
    name = PurePosixPath(folder).name or bucket.name
    provenance = reading.provenance(url=source.location)
    yield from read_entries(entries, scratch, source="url", provenance=provenance, name=name)
    for item in items:
        if not _is_path(paths[item]):
            yield SkippedPath(paths[item][:1000], errors.SOURCE_NAME.problem())


def _is_path(key: str) -> bool:
    return not {"", ".", ".."} & set(key.split("/"))
