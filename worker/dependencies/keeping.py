"""What was made, as one archive in the site's storage, and as a read-only folder on each machine."""

from __future__ import annotations

import hashlib
import os
import tarfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from registry import storage
from registry.packages.problems import refuse
from registry.storage import Stored
from worker.dependencies import codes as codes
from worker.hearing import GoOn, heard
from worker.models import Preparation, PreparationState
from worker.sandbox.collect import collect
from worker.sandbox.policy import Tick
from worker.unpacking import made_once, mark_used, remove_older, take_away

_BLOCK = 512
_REPORT_BYTES = 64 << 20
_LONGEST_BUILD_S = 3 * 3600


def store_tree(
    folder: Path, name: str, *, tick: Tick, is_kept: Callable[[str], bool] = lambda _path: True
) -> Stored:
    """Stores the regular files below ``folder/name`` that are kept, the same bytes for the same files.

    Links, devices and other people's files are left out; every process that made them is dead by now.
    """
    most = settings.SKILLQUAY_DEPENDENCIES_MB
    files, left_out = settings.SKILLQUAY_DEPENDENCIES_FILES, []

    def leave_out(path: str, reason: str) -> None:
        if reason.startswith("too many"):
            left_out.append(path)

    found = collect(folder, subfolder=name, max_files=files, max_bytes=most << 20, on_skip=leave_out)

    def pieces(go_on: GoOn) -> Iterator[bytes]:
        for one in found:
            go_on()
            if is_kept(one.path):
                yield from _member(one.path, one.size, one.file)
        yield bytes(2 * _BLOCK)

    limit = (most << 20) + files * 4096
    stored = heard(lambda go_on: storage.store_stream(pieces(go_on), limit=limit), tick)
    if left_out:
        raise refuse("DEPENDENCIES_TOO_LARGE", limit=most)
    return stored


def read_made(folder: Path, name: str) -> bytes:
    """A file that an installer left, read as a stranger's: no link is followed."""
    for one in collect(folder.parent, subfolder=folder.name, max_bytes=_REPORT_BYTES):
        if one.path == name:
            return one.file.read(_REPORT_BYTES)
    raise refuse("DEPENDENCIES_FAILED", reason=f"{name} was not written")


def _member(path: str, size: int, file: BinaryIO) -> Iterator[bytes]:
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o444
    yield member.tobuf(tarfile.PAX_FORMAT)
    left = size
    while left and (piece := file.read(min(left, 1 << 20))):
        left -= len(piece)
        yield piece
    yield bytes(left + -size % _BLOCK)


def folder_of(digest: str, *, tick: Tick = lambda: None) -> Path:
    """The archive's files on this machine, unpacked where they were not; BLOB_MISSING when it is gone."""
    folder = root() / digest.partition(":")[2]
    if not mark_used(folder):
        heard(lambda go_on: made_once(folder, lambda beside: _unpack(digest, beside, go_on)), tick)
    return folder


def _unpack(digest: str, folder: Path, go_on: GoOn) -> None:
    """Only what hashes to its name is used, wherever the storage is."""
    with storage.open_blob(digest) as file:
        hashed = _Hashed(file, go_on)
        with tarfile.open(fileobj=hashed, mode="r|") as archive:  # type: ignore[call-overload]
            archive.extractall(folder, filter="data")
        while hashed.read(1 << 20):
            pass
    if f"sha256:{hashed.hash.hexdigest()}" != digest:
        raise refuse("BLOB_MISSING", digest=digest)
    os.sync()  # nobody looks at each file again, and where the power goes they would lie there empty


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO, go_on: GoOn) -> None:
        self.file, self.go_on, self.hash = file, go_on, hashlib.sha256()

    def read(self, size: int) -> bytes:
        self.go_on()
        piece = self.file.read(size)
        self.hash.update(piece)
        return piece


def sweep() -> int:
    """Forgets what no version needs or used for long, here and in the storage; locks of living ones stay."""
    days = settings.SKILLQUAY_DEPENDENCIES_DAYS
    removed = remove_older(root(), time.time() - days * 86_400)
    for left in root().glob(".building-*"):  # a worker was killed at it: no build takes that long
        if left.stat().st_mtime < time.time() - _LONGEST_BUILD_S:
            take_away(left)
    Preparation.objects.filter(versions=None).exclude(state=PreparationState.RUNNING).delete()
    old = Q(last_used_at__lt=timezone.now() - timedelta(days=days))
    unused = Preparation.objects.filter(old, state=PreparationState.READY).exclude(digest="")
    unused.update(state=PreparationState.UNUSED, digest="", size=0)
    return removed


def references() -> Iterator[str]:
    """Archives that are in use."""
    return Preparation.objects.exclude(digest="").values_list("digest", flat=True).iterator()


def root() -> Path:
    return Path(settings.SKILLQUAY_VAR) / "dependencies"
