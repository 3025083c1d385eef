"""Hooks for other apps: erase data of a version, and export or erase data of a person."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from registry.core.hooks import Hook
from registry.index import postings
from registry.models import Skill, User
from registry.storage import blobs

version_erased: Hook[[Skill, str, str], Iterable[str]] = Hook()
"""Takes skill, number and digest; returns digests that may have become unused."""
person_exported: Hook[[User], Mapping[str, Any]] = Hook()
person_erased: Hook[[User], Iterable[str]] = Hook()
"""Returns digests that may have become unused."""


def erase_version(skill: Skill, number: str, digest: str) -> set[str]:
    """Erases data derived from the version; returns digests of blobs that may have become unused."""
    return {digest, *(each for digests in version_erased.send(skill, number, digest) for each in digests)}


def export_person(user: User) -> dict[str, Any]:
    return {key: value for part in person_exported.send(user) for key, value in part.items()}


def erase_person(user: User) -> set[str]:
    return {digest for digests in person_erased.send(user) for digest in digests}


def discard_on_commit(digests: Iterable[str]) -> None:
    """After the commit, deletes the unreferenced blobs. If that fails, a later sweep deletes them."""
    unused = sorted(digests)
    transaction.on_commit(lambda: _discard(unused), robust=True)


def _discard(digests: list[str]) -> None:
    with transaction.atomic():
        # Waits for publishers of the same bytes to commit; later ones store the bytes again.
        postings.lock_index_writers()
        blobs.discard(digests)
