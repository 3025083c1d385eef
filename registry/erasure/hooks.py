"""Hooks that let apps erase their data about a version, and export or erase their data about a person."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from registry.core.hooks import Hook
from registry.index import postings
from registry.models import Skill, User
from registry.storage import blobs


@dataclass(frozen=True)
class StoredJson:
    """An exported value as JSON text from the database. Parsed only on demand, to save memory."""

    text: str

    @property
    def value(self) -> Any:
        return json.loads(self.text)


version_erased: Hook[[Skill, str, str], Iterable[str]] = Hook()
"""Takes the skill, the version number and its digest. Returns digests of blobs that may now be unused."""
person_exported: Hook[[User], Mapping[str, Any]] = Hook()
"""Returns lists of documents by name, as iterators, because a list may be long."""
person_erased: Hook[[User], Iterable[str]] = Hook()
"""Returns digests of blobs that may now be unused."""


def erase_version(skill: Skill, number: str, digest: str) -> set[str]:
    """Erases the data derived from the version. Returns the digests that may have become unused, including
    the version's.
    """
    return {digest, *(each for digests in version_erased.send(skill, number, digest) for each in digests)}


def export_person(user: User) -> dict[str, Any]:
    return {key: value for part in person_exported.send(user) for key, value in part.items()}


def erase_person(user: User) -> set[str]:
    return {digest for digests in person_erased.send(user) for digest in digests}


def discard_on_commit(digests: Iterable[str]) -> None:
    """After the commit, deletes the blobs with these digests, except those still referenced. If that fails, a
    later sweep deletes them.
    """
    unused = sorted(digests)
    transaction.on_commit(lambda: discard(unused), robust=True)


def discard(digests: list[str]) -> None:
    """Deletes the blobs with these digests at once, except those still referenced."""
    with transaction.atomic():
        # Waits for publishers of the same bytes to commit; later ones store the bytes again.
        postings.lock_index_writers()
        blobs.discard(digests)
