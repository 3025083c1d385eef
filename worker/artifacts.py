"""What a run left in its output folder, kept under its digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from registry import storage
from registry.packages.problems import Refused
from worker.hearing import GoOn, heard
from worker.masking import Mask
from worker.models import Artifact
from worker.sandbox.collect import Collected, collect
from worker.sandbox.policy import Limits, Tick
from worker.storable import clean_text

_LONGEST_PATH = 500


@dataclass(frozen=True)
class Kept:
    path: str
    size: int  # bytes
    digest: str


@dataclass(frozen=True)
class Collection:
    files: tuple[Kept, ...] = ()
    left_out: tuple[str, ...] = ()  # "name: why"


def keep(job_dir: Path, limits: Limits, *, mask: Mask, tick: Tick) -> Collection | None:
    """Stores the regular files below ``output/``; every process of the run is dead by now.

    None where ``tick`` says to stop: a large folder takes longer than somebody waits who cancels.
    """
    kept: list[Kept] = []
    left_out: list[str] = []

    def leave_out(path: str, reason: str) -> None:
        left_out.append(f"{clean_text(mask.name(path))[:200]}: {reason}")

    found = _named(_found(job_dir, limits, leave_out), mask, leave_out)
    first = next(found, None)

    def store(go_on: GoOn) -> None:
        for one in chain([first] if first else [], found):
            go_on()
            stored = storage.store_stream(_heard(_masked(one.file, mask), go_on), limit=one.size)
            kept.append(Kept(one.path, stored.size, stored.digest))

    try:
        if first:
            heard(store, tick)
    except Refused as no:
        if no.code != "CANCELLED":
            raise
        return None
    return Collection(tuple(kept), tuple(left_out))


def _found(job_dir: Path, limits: Limits, leave_out: Callable[[str, str], None]) -> Iterator[Collected]:
    found = collect(job_dir, max_files=limits.files, max_bytes=limits.disk_mb << 20, on_skip=leave_out)
    for one in found:
        if len(one.path) > _LONGEST_PATH:
            leave_out(one.path, "the path is too long")
        else:
            yield one


def _named(
    found: Iterator[Collected], mask: Mask, leave_out: Callable[[str, str], None]
) -> Iterator[Collected]:
    """By names without secrets, each once: two that differ in a secret alone are one name."""
    taken: set[str] = set()
    for one in found:
        path = mask.name(one.path)
        if path in taken:
            leave_out(one.path, "another file has that name")
        else:
            taken.add(path)
            yield replace(one, path=path)


def _heard(blocks: Iterator[bytes], go_on: GoOn) -> Iterator[bytes]:
    for block in blocks:
        go_on()
        yield block


def _masked(file: BinaryIO, mask: Mask) -> Iterator[bytes]:
    return mask.blocks(_blocks(file)) if mask else _blocks(file)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(1 << 20):
        yield block


def references() -> Iterator[str]:
    """Digests that are in use as artifacts."""
    return Artifact.objects.values_list("digest", flat=True).distinct().iterator()
