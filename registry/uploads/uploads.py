"""Uploads in chunks, which continue after an interruption.

Each chunk is stored as a blob before the row that references it, so chunks can arrive at any web host, and a
crash loses at most the chunk in transit. When the last chunk has arrived, the chunks are joined to one blob.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.core.text import validated
from registry.erasure.hooks import discard_on_commit
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.models import ResumableUpload, UploadChunk, User
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.storage.blobs import StoredBlob
from registry.storage.errors import BLOB_TOO_LARGE
from registry.uploads import errors

MAX_UNFINISHED = 20  # uploads per user
MIN_CHUNK_BYTES = 65_536  # bounds the number of chunks; the last one can be smaller
MAX_CHUNK_BYTES = 16 * 2**20
MAX_KEY = 300  # characters
_READ_BYTES = 2**20


def max_upload_bytes() -> int:
    """The size limit of an upload: the largest of the limits of its uses, which check their own."""
    return max(
        settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
        settings.SKILLQUAY_MAX_UNPACKED_BYTES,  # of a folder, whose files the pages send as one
        settings.SKILLQUAY_MAX_INPUT_BYTES,
        settings.SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES,
    )


def begin_upload(
    actor: Actor, *, name: str, size: int, key: str = "", digest: str = ""
) -> tuple[ResumableUpload, bool]:
    """A new upload, and True. If the actor has an upload with the same values and a key, that one, and False.

    Raises SIGN_IN_REQUIRED if the actor is no user, TEXT_INVALID, UPLOAD_OVER_LIMIT, or UPLOADS_TOO_MANY.
    """
    if actor.user is None:
        raise SIGN_IN_REQUIRED.refusal()
    name = validated(name.replace("\\", "/").rpartition("/")[2], field="name", max_length=255)
    if size > (limit := max_upload_bytes()):
        raise errors.UPLOAD_OVER_LIMIT.refusal(name=name, limit=limit).at("size")
    same = {"name": name, "size": size, "key": key, "expected_digest": digest}
    own = current_uploads(actor)
    if key and (found := own.filter(**same).order_by("-pk").first()):
        return found, False
    if own.filter(digest="").count() >= MAX_UNFINISHED:
        raise errors.UPLOADS_TOO_MANY.refusal(limit=MAX_UNFINISHED)
    created = ResumableUpload.objects.create(owner=actor.user, expires_at=_expiry(), **same)
    return (created if size else finish_upload(created)), True


def _expiry() -> datetime:
    return timezone.now() + timedelta(hours=settings.SKILLQUAY_INPUT_HOURS)


def current_uploads(actor: Actor) -> QuerySet[ResumableUpload]:
    """The actor's uploads that have not expired; none without a user."""
    return ResumableUpload.objects.filter(owner=actor.user, expires_at__gt=timezone.now())


def find_upload(uid: str, actor: Actor) -> ResumableUpload:
    """The actor's upload. Raises NOT_FOUND if it does not exist, has expired or belongs to another user."""
    found = current_uploads(actor).filter(uid=uid).first()
    if found is None:
        raise NOT_FOUND.refusal(what="upload", name=uid[:80])
    return found


def unfinished_uploads(actor: Actor, *, key_prefix: str) -> QuerySet[ResumableUpload]:
    """The actor's uploads that have received a part of their file, newest first."""
    own = current_uploads(actor).filter(key__startswith=key_prefix, digest="")
    return own.filter(received__gt=0, received__lt=F("size")).order_by("-pk")


def append_chunk(upload: ResumableUpload, offset: int, content: Iterable[bytes]) -> ResumableUpload:
    """Stores the chunk at ``offset`` and returns the changed upload; the last chunk completes it. A repeated
    chunk changes nothing.

    Raises UPLOAD_OFFSET_CONFLICT if the upload has ended elsewhere, UPLOAD_CHUNK_INVALID for a wrong size,
    UPLOAD_EMPTY, NOT_FOUND if the upload was discarded meanwhile, and the refusals of ``finish_upload``.
    """
    if offset > upload.received:
        raise _conflict(offset, upload)
    chunk = _store_chunk(content)
    with transaction.atomic():
        locked = ResumableUpload.objects.select_for_update().filter(pk=upload.pk).first()
        if locked is None:
            raise NOT_FOUND.refusal(what="upload", name=upload.uid)
        if offset == locked.received:
            _append(locked, chunk)
        elif not locked.chunks.filter(offset=offset, digest=chunk.digest).exists():
            raise _conflict(offset, locked)
    return finish_upload(locked) if locked.received == locked.size else locked


def _conflict(offset: int, upload: ResumableUpload) -> Refusal:
    return errors.UPLOAD_OFFSET_CONFLICT.refusal(offset=offset, received=upload.received).at("offset")


def _store_chunk(content: Iterable[bytes]) -> StoredBlob:
    try:
        chunk = blobs.store_stream(content, limit=MAX_CHUNK_BYTES)
    except Refusal as refused:
        raise _chunk_invalid() if refused.code == BLOB_TOO_LARGE.name else refused from None
    if not chunk.size:
        raise UPLOAD_EMPTY.refusal()
    return chunk


def _chunk_invalid() -> Refusal:
    return errors.UPLOAD_CHUNK_INVALID.refusal(min=MIN_CHUNK_BYTES, max=MAX_CHUNK_BYTES)


def _append(upload: ResumableUpload, chunk: StoredBlob) -> None:
    rest = upload.size - upload.received
    if chunk.size > rest or chunk.size < min(rest, MIN_CHUNK_BYTES):
        raise _chunk_invalid()
    UploadChunk.objects.create(upload=upload, offset=upload.received, digest=chunk.digest)
    upload.received += chunk.size
    upload.expires_at = _expiry()
    upload.save(update_fields=["received", "expires_at"])


def finish_upload(upload: ResumableUpload) -> ResumableUpload:
    """Joins the chunks of the upload to one blob, unless that is done. A process that was killed meanwhile
    leaves the chunks for the next call.

    Raises UPLOAD_INCOMPLETE, or UPLOAD_DIGEST_MISMATCH after deleting the upload.
    """
    if upload.digest:
        return upload
    if upload.received < upload.size:
        raise errors.UPLOAD_INCOMPLETE.refusal(name=upload.name, received=upload.received, size=upload.size)
    digests = list(upload.chunks.order_by("offset").values_list("digest", flat=True))
    whole = blobs.store_stream(_read_chunks(digests), limit=upload.size)
    if upload.expected_digest not in ("", whole.digest):
        upload.delete()
        raise errors.UPLOAD_DIGEST_MISMATCH.refusal(name=upload.name, digest=whole.digest).at("digest")
    with transaction.atomic():
        locked = ResumableUpload.objects.select_for_update().filter(pk=upload.pk).first()
        if locked is None:
            raise NOT_FOUND.refusal(what="upload", name=upload.uid)
        if not locked.digest:  # otherwise another request has joined the chunks
            locked.digest = whole.digest
            locked.save(update_fields=["digest"])
    return locked


def _read_chunks(digests: Iterable[str]) -> Iterator[bytes]:
    for digest in digests:
        with blobs.open_blob(digest) as file:
            yield from iter(lambda: file.read(_READ_BYTES), b"")


def complete_upload(uid: str, actor: Actor) -> ResumableUpload:
    """The actor's complete upload, whose ``digest`` names its blob. Raises NOT_FOUND, or the refusals of
    ``finish_upload``.
    """
    return finish_upload(find_upload(uid, actor))


def read_content(uid: str, actor: Actor, *, limit: int) -> tuple[str, bytes]:
    """The name and the content of the actor's complete upload. Raises UPLOAD_OVER_LIMIT above ``limit``
    bytes, and the refusals of ``complete_upload``.
    """
    upload = complete_upload(uid, actor)
    if upload.size > limit:
        raise errors.UPLOAD_OVER_LIMIT.refusal(name=upload.name, limit=limit).at("upload")
    return upload.name, blobs.read(upload.digest)


def discard_upload(upload: ResumableUpload) -> None:
    """Deletes the upload. A sweep removes its content unless something else references it."""
    upload.delete()


def erase_upload(upload: ResumableUpload) -> None:
    """Deletes the upload, and its content at once unless something else references it."""
    digests = _digests(ResumableUpload.objects.filter(pk=upload.pk))
    upload.delete()
    discard_on_commit(digests)


def _digests(rows: QuerySet[ResumableUpload]) -> set[str]:
    """The digests of the uploads and of all their chunks, also of joined ones."""
    chunks = UploadChunk.objects.filter(upload__in=rows).values_list("digest", flat=True)
    return {*chunks, *rows.exclude(digest="").values_list("digest", flat=True)}


def sweep() -> int:
    """Deletes expired uploads; returns how many."""
    expired = ResumableUpload.objects.filter(expires_at__lte=timezone.now())
    return expired.delete()[1].get(ResumableUpload._meta.label, 0)


def references() -> Iterator[str]:
    """Digests of complete uploads, and of the chunks of others."""
    unjoined = UploadChunk.objects.filter(upload__digest="")
    yield from unjoined.values_list("digest", flat=True).iterator()
    yield from ResumableUpload.objects.exclude(digest="").values_list("digest", flat=True).iterator()


def export_person(user: User) -> dict[str, Any]:
    own = ResumableUpload.objects.filter(owner=user).order_by("pk").iterator(chunk_size=200)
    return {"uploads": ({"id": row.uid, "name": row.name, "size": row.size} for row in own)}


def erase_person(user: User) -> set[str]:
    own = ResumableUpload.objects.filter(owner=user)
    digests = _digests(own)
    own.delete()
    return digests
