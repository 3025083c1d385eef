"""Files that clients upload one by one before they publish them together.

A file is a blob without a reference, so a sweep removes it if it is never published. Tickets are signed, so
they need no table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.core import signing

from registry.api.errors import FIELD_INVALID
from registry.packages.problems import Refusal
from registry.storage import blobs

_TICKET, _RECEIPT = "clawhub.upload", "clawhub.receipt"
_MAX_AGE_S = 45 * 60  # a sweep removes unpublished blobs after an hour


@dataclass(frozen=True)
class AnnouncedFile:
    """The file that a ticket allows: digest ``sha256:…`` and size in bytes."""

    digest: str
    size: int


def ticket(upload: AnnouncedFile, caller: str) -> str:
    """A signed ticket for the upload URL. It allows only this caller to upload only this file."""
    return signing.dumps([caller, upload.digest, upload.size], salt=_TICKET)


def receive(ticket: str, caller: str, chunks: Iterable[bytes]) -> str:
    """Stores the file of the ticket and returns its receipt. Raises FIELD_INVALID for an invalid ticket or
    different bytes, and BLOB_TOO_LARGE for a longer file.
    """
    upload = _read(ticket, _TICKET, caller)
    stored = blobs.store_stream(chunks, limit=upload.size)
    if stored.digest != upload.digest:
        raise FIELD_INVALID.refusal(field="sha256", reason="The uploaded bytes have another digest.")
    return signing.dumps([caller, upload.digest, upload.size], salt=_RECEIPT)


def announced(ticket: str, caller: str) -> AnnouncedFile:
    """The file that the ticket allows. Raises FIELD_INVALID for an invalid ticket."""
    return _read(ticket, _TICKET, caller)


def uploaded(receipt: str, caller: str) -> bytes:
    """The content of an uploaded file. Requires the receipt, which only the uploader gets. Raises
    FIELD_INVALID for an invalid receipt, and BLOB_MISSING if the file was removed.
    """
    return blobs.read(_read(receipt, _RECEIPT, caller).digest)


def _read(text: str, salt: str, caller: str) -> AnnouncedFile:
    try:
        owner, digest, size = signing.loads(text, salt=salt, max_age=_MAX_AGE_S)
    except signing.BadSignature:
        raise _wrong_ticket() from None
    if owner != caller:
        raise _wrong_ticket()
    return AnnouncedFile(digest, size)


def _wrong_ticket() -> Refusal:
    return FIELD_INVALID.refusal(field="storageId", reason="The upload is unknown or expired. Upload again.")
