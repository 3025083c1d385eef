"""Leases user ids to the runs of a root worker, one per run, so that no run can access another."""

import fcntl
import os
from functools import cache
from pathlib import Path

from worker.sandbox.errors import SANDBOX_FULL
from worker.sandbox.site_settings import SandboxSettings


class UserIdLease:
    """A user id, reserved by a file lock. The init process shares the lock, which may outlive the worker."""

    def __init__(self, uid: int, descriptor: int) -> None:
        self.uid = uid
        self.descriptor = descriptor

    def release(self) -> None:
        os.close(self.descriptor)


def lease_user_id(site: SandboxSettings) -> UserIdLease | None:
    """Reserves a free user id; None if the worker is not root and so can't switch users.

    Creates the staging folders if they are missing. Raises SANDBOX_FULL if all user ids of the pool are in
    use.
    """
    if os.geteuid() != 0:
        return None
    folder = prepare_staging(site)
    for step in range(site.uid_count):
        uid = site.uid_base + (os.getpid() + step) % site.uid_count
        if uid in _account_ids():
            continue
        descriptor = os.open(folder / str(uid), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        return UserIdLease(uid, descriptor)
    raise SANDBOX_FULL.refusal(count=site.uid_count)


def prepare_staging(site: SandboxSettings) -> Path:
    """Creates and returns the folder of lock files; creates ``stage``, a mount point for staged paths."""
    for name, mode in (("", 0o755), ("uids", 0o700), ("stage", 0o755)):
        folder = site.staging / name
        folder.mkdir(parents=True, exist_ok=True)
        if folder.lstat().st_uid == 0:
            folder.chmod(mode)
    return site.staging / "uids"


@cache
def _account_ids() -> frozenset[int]:
    """User ids of this machine's accounts, which runs must not get; empty if /etc/passwd is unreadable."""
    try:
        lines = Path("/etc/passwd").read_text(errors="replace").splitlines()
    except OSError:
        return frozenset()
    ids = (line.split(":")[2] for line in lines if line.count(":") > 2)
    return frozenset(int(number) for number in ids if number.isdigit())
