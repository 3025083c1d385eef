"""Stores builds: one archive in the site's storage, and a read-only folder on each machine."""

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

from registry.storage import blobs
from registry.storage.blobs import StoredBlob
from registry.storage.errors import BLOB_MISSING
from worker.attempts.unpacking import create_once, mark_used, remove_folder, remove_unused
from worker.core.cancellation import CheckCancelled, run_cancellable
from worker.dependencies.errors import DEPENDENCIES_FAILED, DEPENDENCIES_TOO_LARGE
from worker.dependencies.needs import runtime_keys
from worker.models import DependencyBuild, DependencyBuildState
from worker.sandbox.collect import collect
from worker.sandbox.policy import CheckStop

_BLOCK = 512
_REPORT_BYTES = 64 << 20
_MAX_BUILD_S = 3 * 3600


def store_tree(
    folder: Path, name: str, *, check_stop: CheckStop, is_kept: Callable[[str], bool] = lambda _path: True
) -> StoredBlob:
    """Stores the regular files below ``folder/name`` that ``is_kept`` selects, as a deterministic archive.

    Omits links, devices and files of other users. Processes that could change the files must have ended
    before. Raises DEPENDENCIES_TOO_LARGE above the site's limits, and CANCELLED if ``check_stop`` reports a
    reason.
    """
    max_mb = settings.SKILLQUAY_DEPENDENCIES_MB
    files, omitted = settings.SKILLQUAY_DEPENDENCIES_FILES, []

    def omit(path: str, reason: str) -> None:
        if reason.startswith("too many"):
            omitted.append(path)

    found = collect(folder, subfolder=name, max_files=files, max_bytes=max_mb << 20, on_skip=omit)

    def pieces(check_cancelled: CheckCancelled) -> Iterator[bytes]:
        for one in found:
            check_cancelled()
            if is_kept(one.path):
                yield from _member(one.path, one.size, one.file)
        if omitted:  # the size is known only here; the error prevents storing the archive
            raise DEPENDENCIES_TOO_LARGE.refusal(limit=max_mb)
        yield bytes(2 * _BLOCK)

    limit = (max_mb << 20) + files * 4096
    return run_cancellable(
        lambda check_cancelled: blobs.store_stream(pieces(check_cancelled), limit=limit), check_stop
    )


def read_build_file(folder: Path, name: str) -> bytes:
    """Reads a file of at most 64 MiB that an installer wrote, without following links.

    Raises DEPENDENCIES_FAILED if ``folder`` has no such file.
    """
    for one in collect(folder.parent, subfolder=folder.name, max_bytes=_REPORT_BYTES):
        if one.path == name:
            return one.file.read(_REPORT_BYTES)
    raise DEPENDENCIES_FAILED.refusal(reason=f"{name} was not written")


def _member(path: str, size: int, file: BinaryIO) -> Iterator[bytes]:
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o444
    yield member.tobuf(tarfile.PAX_FORMAT)
    remaining = size
    while remaining and (piece := file.read(min(remaining, 1 << 20))):
        remaining -= len(piece)
        yield piece
    yield bytes(remaining + -size % _BLOCK)


def unpack_archive(digest: str, *, check_stop: CheckStop = lambda: None) -> Path:
    """The archive's folder on this machine, unpacked if needed.

    Raises BLOB_MISSING if the archive is not stored or does not match ``digest``, and CANCELLED if stopped.
    """
    folder = root() / digest.partition(":")[2]
    if not mark_used(folder):
        run_cancellable(
            lambda check_cancelled: create_once(
                folder, lambda temporary: _unpack(digest, temporary, check_cancelled)
            ),
            check_stop,
        )
    return folder


def _unpack(digest: str, folder: Path, check_cancelled: CheckCancelled) -> None:
    """Unpacks the archive and checks its digest; raises BLOB_MISSING if it is missing or differs."""
    with blobs.open_blob(digest) as file:
        hashed = _HashingFile(file, check_cancelled)
        with tarfile.open(fileobj=hashed, mode="r|") as archive:  # type: ignore[call-overload]
            archive.extractall(folder, filter="data")
        while hashed.read(1 << 20):
            pass
    if f"sha256:{hashed.hash.hexdigest()}" != digest:
        raise BLOB_MISSING.refusal(digest=digest)
    os.sync()  # later uses don't verify the files, which a power failure could empty


class _HashingFile:
    """A file that hashes the bytes read from it, and raises CANCELLED at a read after a cancellation."""

    def __init__(self, file: BinaryIO, check_cancelled: CheckCancelled) -> None:
        self.file, self.check_cancelled, self.hash = file, check_cancelled, hashlib.sha256()

    def read(self, size: int) -> bytes:
        self.check_cancelled()
        piece = self.file.read(size)
        self.hash.update(piece)
        return piece


def sweep() -> int:
    """Removes this machine's unused folders, builds without a version, and archives of unused builds.

    Returns how many folders were removed. A build is unused after SKILLQUAY_DEPENDENCIES_DAYS without a use;
    it keeps its lock. Builds of runtimes are kept, because new versions can use them. Also removes folders of
    builds that were killed.
    """
    days = settings.SKILLQUAY_DEPENDENCIES_DAYS
    removed = remove_unused(root(), time.time() - days * 86_400)
    for leftover in root().glob(".building-*"):  # its worker was killed, because no build takes that long
        if leftover.stat().st_mtime < time.time() - _MAX_BUILD_S:
            remove_folder(leftover)
    unneeded = DependencyBuild.objects.filter(versions=None).exclude(state=DependencyBuildState.RUNNING)
    unneeded.exclude(key__in=runtime_keys()).delete()
    old = Q(last_used_at__lt=timezone.now() - timedelta(days=days))
    unused = DependencyBuild.objects.filter(old, state=DependencyBuildState.READY).exclude(digest="")
    unused.update(state=DependencyBuildState.UNUSED, digest="", size=0)
    return removed


def references() -> Iterator[str]:
    """Digests of the archives of all builds, which the sweep of blobs must keep."""
    return DependencyBuild.objects.exclude(digest="").values_list("digest", flat=True).iterator()


def root() -> Path:
    return Path(settings.SKILLQUAY_VAR) / "dependencies"
