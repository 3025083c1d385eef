"""Stores the files of a run's output folder by their digest."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from registry.packages.problems import Refusal
from registry.storage import blobs
from worker.core.cancellation import CheckCancelled, run_cancellable
from worker.core.errors import CANCELLED
from worker.core.masking import Mask
from worker.core.storable import clean_text
from worker.models import Artifact
from worker.sandbox.collect import CollectedFile, collect
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import CheckStop

_MAX_PATH = 500


@dataclass(frozen=True)
class StoredArtifact:
    path: str
    size: int  # bytes
    digest: str


@dataclass(frozen=True)
class CollectedArtifacts:
    files: tuple[StoredArtifact, ...] = ()
    omitted: tuple[str, ...] = ()  # "name: why"


def store_artifacts(
    job_dir: Path, limits: Limits, *, mask: Mask, check_stop: CheckStop
) -> CollectedArtifacts | None:
    """Stores the regular files below ``output/``, after all processes of the run have ended.

    Returns None if ``check_stop`` reports a reason: a large folder takes longer than a cancellation may.
    """
    stored_files: list[StoredArtifact] = []
    omitted: list[str] = []

    def omit(path: str, reason: str) -> None:
        omitted.append(f"{clean_text(mask.mask_name(path))[:200]}: {reason}")

    found = _mask_names(_collect(job_dir, limits, omit), mask, omit)
    first = next(found, None)

    def store(check_cancelled: CheckCancelled) -> None:
        with closing(found):  # and the file that it has open
            for one in chain([first] if first else [], found):
                check_cancelled()
                blocks = _cancellable(_masked_blocks(one.file, mask), check_cancelled)
                stored = blobs.store_stream(blocks, limit=one.size)
                stored_files.append(StoredArtifact(one.path, stored.size, stored.digest))

    try:
        if first:
            run_cancellable(store, check_stop)
    except Refusal as error:
        if error.code != CANCELLED.name:
            raise
        return None
    return CollectedArtifacts(tuple(stored_files), tuple(omitted))


def _collect(job_dir: Path, limits: Limits, omit: Callable[[str, str], None]) -> Iterator[CollectedFile]:
    found = collect(job_dir, max_files=limits.files, max_bytes=limits.disk_mb << 20, on_skip=omit)
    for one in found:
        if len(one.path) > _MAX_PATH:
            omit(one.path, "the path is too long")
        else:
            yield one


def _mask_names(
    found: Iterator[CollectedFile], mask: Mask, omit: Callable[[str, str], None]
) -> Generator[CollectedFile, None, None]:
    """Yields the files with secrets masked in their names; of files with equal names, only the first."""
    names: set[str] = set()
    for one in found:
        path = mask.mask_name(one.path)
        if path in names:
            omit(one.path, "another file has that name")
        else:
            names.add(path)
            yield replace(one, path=path)


def _cancellable(blocks: Iterator[bytes], check_cancelled: CheckCancelled) -> Iterator[bytes]:
    for block in blocks:
        check_cancelled()
        yield block


def _masked_blocks(file: BinaryIO, mask: Mask) -> Iterator[bytes]:
    return mask.mask_blocks(_blocks(file)) if mask else _blocks(file)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(1 << 20):
        yield block


def references() -> Iterator[str]:
    """Digests of all artifacts."""
    return Artifact.objects.values_list("digest", flat=True).distinct().iterator()
