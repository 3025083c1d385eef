"""Packages ready to run: unpacked once a digest and machine, read-only, shared by every run of them."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from django.conf import settings

from registry import storage
from registry.models import File, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest, Profile
from registry.packages.problems import refuse
from registry.packages.repack import unpack
from worker.hearing import heard
from worker.sandbox.clearing import clear
from worker.sandbox.policy import Tick

KEPT_UNUSED_S = 7 * 24 * 3600.0
_MARK_AGAIN_S = 3600.0  # how often a use moves the folder's date


@dataclass(frozen=True)
class Opened:
    """A package on this machine's disk and what its front matter says."""

    folder: Path
    paths: tuple[str, ...]
    manifest: Manifest
    profile: Profile

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()


def opened(digest: str, *, tick: Tick | None = None) -> Opened:
    """The package of that digest, unpacked where it was not; PACKAGE_MISSING when nothing is stored of it.

    A run that is stopped meanwhile, as its ``tick`` says, is refused as CANCELLED.
    """
    folder = _root() / digest.partition(":")[2]
    if not mark_used(folder) or not _is_whole(digest, folder):  # not here yet, or swept since
        _opened.cache_clear()
        _is_whole.cache_clear()
        if not _is_named(folder.name):
            raise refuse("PACKAGE_MISSING")
        if tick:
            heard(lambda _go_on: _unpack(digest, folder), tick)
        else:
            _unpack(digest, folder)
    return _opened(digest, folder)


@lru_cache(maxsize=256)
def _opened(digest: str, folder: Path) -> Opened:
    version = Version.objects.filter(digest=digest).values("manifest", "profile").first()
    if version is None:
        raise refuse("PACKAGE_MISSING")
    paths = tuple(sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()))
    return Opened(folder, paths, manifest_of(version["manifest"]), cast("Profile", version["profile"]))


@lru_cache(maxsize=256)
def _is_whole(digest: str, folder: Path) -> bool:
    """Where the power went soon after it was unpacked, files are there without their bytes: then it goes."""
    for path, size in File.objects.filter(version__digest=digest).values_list("path", "size"):
        with suppress(FileNotFoundError):
            if (folder / path).stat().st_size == size:
                continue
        take_away(folder)
        return False
    return True


def _unpack(digest: str, folder: Path) -> None:
    """Beside, then renamed: nobody sees half a package. Of many who ask at once, one unpacks."""
    made_once(folder, lambda beside: unpack(storage.read(digest), beside))


def made_once(folder: Path, fill: Callable[[Path], object]) -> None:
    """The folder, filled beside, read-only and whole; of many who ask at once, one fills it."""
    with _alone(folder.parent):
        if not folder.is_dir():
            _make_beside(folder, fill)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One unpacking into this place at a time on this machine; a dead one's lock is gone with it."""
    root.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(root.parent / f".{root.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _make_beside(folder: Path, fill: Callable[[Path], object]) -> None:
    beside = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    beside.mkdir(mode=0o755)
    try:
        fill(beside)
        _make_read_only(beside)
        os.rename(beside, folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        clear(beside)


def _make_read_only(folder: Path) -> None:
    for here, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(here, name)
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)
        if Path(here) != folder:  # a folder without write permission cannot be renamed by a plain user
            Path(here).chmod(0o555)
    folder.chmod(0o755)


def mark_used(folder: Path) -> bool:
    """Keeps it from the sweep for a while; False where it is gone."""
    try:
        if time.time() - folder.stat().st_mtime > _MARK_AGAIN_S:
            os.utime(folder)
    except FileNotFoundError:
        return False
    return True


def sweep(*, now: float | None = None) -> int:
    """Removes packages that nothing ran for a week, and unpackings that died."""
    before = (time.time() if now is None else now) - KEPT_UNUSED_S
    return remove_older(_root(), before)


def forget(digest: str) -> None:
    """Removes a purged package from this machine; others find at their sweep that it has no version."""
    _opened.cache_clear()
    take_away(_root() / digest.partition(":")[2])


def sweep_purged() -> None:
    """Removes packages of which no version is left."""
    for folder in _folders(_root()):
        if not folder.name.startswith(".") and not _is_named(folder.name):
            take_away(folder)


def _is_named(key: str) -> bool:
    return Version.objects.filter(digest=f"sha256:{key}").exists()


def take_away(folder: Path) -> None:
    """Renamed, then removed: whoever unpacks it meanwhile makes a folder of their own."""
    gone = folder.with_name(f".gone-{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        os.rename(folder, gone)
    clear(gone)


def remove_older(root: Path, before: float) -> int:
    """Takes away the folders that nobody used since then."""
    removed = 0
    for entry in _folders(root):
        if entry.stat().st_mtime < before:
            take_away(entry)
            removed += 1
    return removed


def _folders(root: Path) -> Iterable[Path]:
    return [Path(entry.path) for entry in os.scandir(root)] if root.is_dir() else []


def _root() -> Path:
    return Path(settings.SKILLQUAY_VAR) / "cache" / "packages"
