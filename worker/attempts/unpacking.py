"""Unpacks packages once per digest and machine, read-only and shared by all runs."""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from django.conf import settings

from registry.core.sql import Reads, reader
from registry.models import File, Version
from registry.packages.archive.repack import unpack
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest, Profile
from registry.storage import blobs
from worker.attempts.errors import PACKAGE_MISSING
from worker.core.cancellation import run_cancellable
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.policy import CheckStop

UNUSED_RETENTION_S = 7 * 24 * 3600.0
_MARK_INTERVAL_S = 3600.0  # a use updates the folder's modification time only after this time
_MAX_OPENED = 256


@dataclass(frozen=True)
class UnpackedPackage:
    """A package on this machine's disk; ``paths`` are sorted and relative to ``folder``."""

    folder: Path
    paths: tuple[str, ...]
    manifest: Manifest
    profile: Profile

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()


_opened: dict[Path, UnpackedPackage] = {}  # complete packages that this process has opened, by folder


@reader
def open_package(digest: str, *, check_stop: CheckStop | None = None) -> Reads[UnpackedPackage]:
    """Returns the package with that digest; unpacks it if it is not complete on this machine.

    Raises PACKAGE_MISSING if no version has the digest, and CANCELLED if ``check_stop`` reports a reason
    during unpacking. Also raises errors of the storage, such as BLOB_MISSING.
    """
    folder = _root() / digest.partition(":")[2]
    is_unpacked = mark_used(folder)
    if is_unpacked and (package := _opened.get(folder)):
        return package
    versions = Version.objects.filter(digest=digest).order_by("pk").values_list("manifest", "profile")[:1]
    files = File.objects.filter(version__digest=digest).values_list("path", "size")
    yield versions, files
    if not versions:
        raise PACKAGE_MISSING.refusal()
    if not is_unpacked or not _is_complete(folder, files):  # never unpacked or already swept
        if check_stop:
            run_cancellable(lambda _go_on: _unpack(digest, folder), check_stop)
        else:
            _unpack(digest, folder)
    ((manifest, profile),) = versions
    paths = tuple(sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()))
    package = UnpackedPackage(folder, paths, manifest_of(manifest), cast("Profile", profile))
    _remember(package)
    return package


def _remember(package: UnpackedPackage) -> None:
    """Keeps the package in this process; forgets the oldest ones if there are too many."""
    for folder in list(_opened)[: 1 - _MAX_OPENED]:
        _opened.pop(folder, None)  # another thread may have been faster
    _opened[package.folder] = package


def _is_complete(folder: Path, files: Iterable[tuple[str, int]]) -> bool:
    """Whether all files have their full size; removes the folder if not.

    After a power failure soon after unpacking, files can exist without their content.
    """
    for path, size in files:
        with suppress(FileNotFoundError):
            if (folder / path).stat().st_size == size:
                continue
        remove_folder(folder)
        return False
    return True


def _unpack(digest: str, folder: Path) -> None:

    create_once(folder, lambda temporary: unpack(blobs.read(digest), temporary))


def create_once(folder: Path, fill: Callable[[Path], object]) -> None:
    """Creates the folder, unless it exists, with the content that ``fill`` writes.

    The folder appears only when it is complete, with read-only content. If several processes on this machine
    call this, one fills the folder and the others wait.
    """
    with _folder_lock(folder.parent):
        if not folder.is_dir():
            _fill_and_rename(folder, fill)


@contextmanager
def _folder_lock(root: Path) -> Iterator[None]:
    """A context manager that locks the folder for this process; the kernel releases a dead process's lock."""
    root.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(root.parent / f".{root.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _fill_and_rename(folder: Path, fill: Callable[[Path], object]) -> None:
    temporary = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary.mkdir(mode=0o755)
    try:
        fill(temporary)
        _make_read_only(temporary)
        os.rename(temporary, folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        remove_tree(temporary)


def _make_read_only(folder: Path) -> None:
    for here, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(here, name)
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)
        if Path(here) != folder:  # only root can rename a folder that is not writable
            Path(here).chmod(0o555)
    folder.chmod(0o755)


def mark_used(folder: Path) -> bool:
    """Marks the folder as used, so that sweeps keep it; returns False if it does not exist."""
    try:
        if time.time() - folder.stat().st_mtime > _MARK_INTERVAL_S:
            os.utime(folder)
    except FileNotFoundError:
        return False
    return True


def sweep(*, now: float | None = None) -> int:
    """Removes unpacked packages and leftovers that were not used for a week; returns how many.

    ``now`` is in epoch seconds.
    """
    before = (time.time() if now is None else now) - UNUSED_RETENTION_S
    return remove_unused(_root(), before)


def remove_package(digest: str) -> None:
    """Removes a purged package from this machine; other machines remove it in ``sweep_purged``."""
    _opened.clear()
    remove_folder(_root() / digest.partition(":")[2])


def sweep_purged() -> None:
    """Removes from this machine the packages that no version uses."""
    for folder in _list_entries(_root()):
        if not folder.name.startswith(".") and not _has_version(folder.name):
            remove_folder(folder)


def _has_version(key: str) -> bool:
    return Version.objects.filter(digest=f"sha256:{key}").exists()


def remove_folder(folder: Path) -> None:
    """Removes the folder if it exists. Renames it first, so that a concurrent unpacking creates a new one."""
    removed = folder.with_name(f".gone-{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        os.rename(folder, removed)
    remove_tree(removed)


def remove_unused(root: Path, before: float) -> int:
    """Removes entries of ``root`` last used before ``before`` (epoch seconds); returns how many."""
    removed = 0
    for entry in _list_entries(root):
        if entry.stat().st_mtime < before:
            remove_folder(entry)
            removed += 1
    return removed


def _list_entries(root: Path) -> Iterable[Path]:
    return [Path(entry.path) for entry in os.scandir(root)] if root.is_dir() else []


def _root() -> Path:
    return Path(settings.SKILLQUAY_VAR) / "cache" / "packages"
