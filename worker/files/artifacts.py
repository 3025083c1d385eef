"""Stores the files that a run created or changed, by their digest."""

import hashlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
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
from worker.files.inputs import InputUse, relative_path
from worker.models import Artifact
from worker.sandbox.collect import CollectedFile, collect
from worker.sandbox.layout import WORK
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import CheckStop

_MAX_PATH = 500
_TOOL_FOLDERS = frozenset({"__pycache__", "node_modules", ".cache", ".git"})


@dataclass(frozen=True)
class StoredArtifact:
    path: str
    size: int  # bytes
    digest: str


@dataclass(frozen=True)
class CollectedArtifacts:
    files: tuple[StoredArtifact, ...] = ()
    omitted: tuple[str, ...] = ()  # "name: reason"


@dataclass(frozen=True)
class WrittenFolders:
    """The job folder after a run, with the paths that the platform created in its working folder."""

    job_dir: Path
    inputs: Sequence[InputUse] = ()
    links: Collection[str] = ()  # links in the working folder that the platform created


def store_artifacts(
    folders: WrittenFolders, limits: Limits, *, mask: Mask, check_stop: CheckStop
) -> CollectedArtifacts | None:
    """Stores the regular files below ``output/``, and new and changed ones below ``work/``.

    Masks secrets in the files. Returns the stored files and the omitted ones, such as files beyond
    ``limits``. Returns None as soon as ``check_stop`` reports a reason, because storing a large folder takes
    long. Call this after all processes of the run have ended. Raises Refusal if the storage fails.
    """
    stored_files: list[StoredArtifact] = []
    omitted: list[str] = []

    def omit(path: str, reason: str) -> None:
        omitted.append(f"{clean_text(mask.mask_name(path))[:200]}: {reason}")

    found = _mask_names(_collect(folders, limits, omit), mask, omit)
    first = None if folders.inputs else next(found, None)  # because comparing inputs can take long, too

    def store(check_cancelled: CheckCancelled) -> None:
        with closing(found):  # also closes the file that the generator has open
            for one in chain([first] if first else [], found):
                check_cancelled()
                blocks = _cancellable(_masked_blocks(one.file, mask), check_cancelled)
                stored = blobs.store_stream(blocks, limit=one.size)
                stored_files.append(StoredArtifact(one.path, stored.size, stored.digest))

    try:
        if first or folders.inputs:
            run_cancellable(store, check_stop)
    except Refusal as error:
        if error.code != CANCELLED.name:
            raise
        return None
    return CollectedArtifacts(tuple(stored_files), tuple(omitted))


def _collect(
    folders: WrittenFolders, limits: Limits, omit: Callable[[str, str], None]
) -> Iterator[CollectedFile]:
    """Yields the files of both folders within the limits.

    If both folders have a file with the same path, that of the working folder gets the prefix ``work/``.
    """
    output: set[str] = set()
    size = 0
    for one in _short_paths(
        collect(folders.job_dir, max_files=limits.files, max_bytes=limits.disk_mb << 20, on_skip=omit), omit
    ):
        output.add(one.path)
        size += one.size
        yield one
    unchanged = {relative_path(use): use for use in folders.inputs}
    work = collect(
        folders.job_dir,
        subfolder=WORK,
        max_files=limits.files - len(output),
        max_bytes=(limits.disk_mb << 20) - size,
        on_skip=omit,
        is_ignored=lambda one: _is_same(one, unchanged.get(one.path)),
        known_links=folders.links,
        tool_folders=_TOOL_FOLDERS,
    )
    for one in _short_paths(work, omit):
        yield replace(one, path=f"{WORK}/{one.path}") if one.path in output else one


def _short_paths(found: Iterator[CollectedFile], omit: Callable[[str, str], None]) -> Iterator[CollectedFile]:
    for one in found:
        if len(one.path) > _MAX_PATH:
            omit(one.path, "the path is too long")
        else:
            yield one


def _is_same(one: CollectedFile, use: InputUse | None) -> bool:
    if use is None or use.size != one.size:
        return False
    digest = hashlib.sha256()
    for block in _blocks(one.file):
        digest.update(block)
    one.file.seek(0)
    return use.digest == f"sha256:{digest.hexdigest()}"


def _mask_names(
    found: Iterator[CollectedFile], mask: Mask, omit: Callable[[str, str], None]
) -> Generator[CollectedFile, None, None]:
    """Yields the files with secrets masked in their names; omits files whose masked name is taken."""
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
    """Digests of all artifacts, each once."""
    return Artifact.objects.values_list("digest", flat=True).distinct().iterator()
