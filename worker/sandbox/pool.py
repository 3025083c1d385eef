"""User ids for the runs of a worker that is root: one each, so that no run can touch another."""

from __future__ import annotations

import fcntl
import os
from functools import cache
from pathlib import Path

from registry.packages.problems import refuse
from worker.sandbox.site import Site


class Lease:
    """A user id held by a locked file; the keeper shares the lock, so that it outlives a killed worker."""

    def __init__(self, uid: int, descriptor: int) -> None:
        self.uid = uid
        self.descriptor = descriptor

    def release(self) -> None:
        os.close(self.descriptor)


def lease(site: Site) -> Lease | None:
    """None for a worker that is not root: it has one user id and cannot take another."""
    if os.geteuid() != 0:
        return None
    folder = prepared(site)
    for step in range(site.uid_count):
        uid = site.uid_base + (os.getpid() + step) % site.uid_count
        if uid in _taken():
            continue
        descriptor = os.open(folder / str(uid), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        return Lease(uid, descriptor)
    raise refuse("SANDBOX_FULL", count=site.uid_count)


def prepared(site: Site) -> Path:
    """The folder of locks; beside it ``stage``, open to all, over which each keeper mounts its own."""
    for name, mode in (("", 0o755), ("uids", 0o700), ("stage", 0o755)):
        folder = site.staging / name
        folder.mkdir(parents=True, exist_ok=True)
        if folder.lstat().st_uid == 0:
            folder.chmod(mode)
    return site.staging / "uids"


@cache
def _taken() -> frozenset[int]:
    """User ids that belong to somebody on this machine."""
    try:
        lines = Path("/etc/passwd").read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    ids = (line.split(":")[2] for line in lines if line.count(":") > 2)
    return frozenset(int(number) for number in ids if number.isdigit())
