"""Keeps files that protocols build, such as npm tarballs and packs of git, as blobs. A process that starts
later reads them instead of building them again.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import DatabaseError, transaction

from registry.models import BuiltFile, Skill
from registry.packages.problems import Refusal
from registry.storage import blobs

MAX_BYTES = 64 * 1024 * 1024  # of a kept file; larger ones are built each time
MAX_OF_SOURCE = 8  # answers to different requests of git clients
MAX_SOURCES = 3  # of a skill: its repository, that of its plugin and that of its canonical name
_log = logging.getLogger(__name__)


def key_of(*parts: object) -> str:
    """The key of the file that these JSON values determine."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def find(keys: Iterable[str]) -> dict[str, BuiltFile]:
    """The kept files with these keys, by key."""
    return {row.key: row for row in BuiltFile.objects.filter(key__in=list(keys))}


def read(key: str) -> bytes | None:
    """The content of the kept file; None if it is not kept or its blob is missing."""
    row = find([key]).get(key)
    try:
        return blobs.read(row.digest) if row else None
    except Refusal as error:
        _log.warning("The kept file %s can't be read: %s", key, error)
        return None


def keep(
    kind: str,
    key: str,
    data: bytes,
    *,
    skill_id: int,
    source: str = "",
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Keeps the file, unless it is larger than MAX_BYTES.

    With ``source``, keeps at most MAX_OF_SOURCE files of this source, and removes the skill's files of all
    but the MAX_SOURCES latest sources. If the storage or the database fails, logs this and does not keep the
    file.
    """
    if len(data) > MAX_BYTES:
        return
    same_kind = BuiltFile.objects.filter(skill_id=skill_id, kind=kind)
    try:
        if source and same_kind.filter(source=source).count() >= MAX_OF_SOURCE:
            return
        digest = blobs.store(data)
        with transaction.atomic():
            row = {"skill_id": skill_id, "kind": kind, "source": source, "digest": digest}
            defaults = {**row, "size": len(data), "facts": dict(facts or {})}
            BuiltFile.objects.get_or_create(key=key, defaults=defaults)
            if source:
                recent = same_kind.exclude(source="").order_by("-pk").values_list("source", flat=True)
                current = list(dict.fromkeys(recent))[:MAX_SOURCES]
                same_kind.exclude(source__in=current).delete()
    except (DatabaseError, Refusal, OSError):
        _log.warning("A built file was not kept", exc_info=True)


def forget_skill(skill: Skill, number: str, digest: str) -> list[str]:
    """Removes all kept files of the skill, after one of its versions was purged. Returns their digests."""
    rows = BuiltFile.objects.filter(skill=skill)
    found = list(rows.values_list("digest", flat=True))
    rows.delete()
    return found


def references() -> Iterable[str]:
    """The digests of all kept files."""
    return BuiltFile.objects.values_list("digest", flat=True).iterator()
