"""Objects of the host that probes look for: System V objects, shared memory, cgroups."""

from __future__ import annotations

import contextlib
import ctypes
import secrets
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worker.sandbox.limits.cgroup import find_parents


@contextlib.contextmanager
def shared_objects() -> Iterator[dict[str, Any]]:
    key, shared = secrets.randbelow(1 << 30) + 1, Path("/dev/shm", secrets.token_hex(8))
    shared.write_text("the worker's")
    try:
        with _system_v(key):
            groups = [str(parent.folder) for parent in find_parents()]
            yield {"ipc_key": key, "cgroups": groups, "shared_memory": str(shared)}
    finally:
        shared.unlink()


@contextlib.contextmanager
def datagram_socket() -> Iterator[dict[str, Any]]:
    """A socket that everybody may send to, as the system's log has one."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as folder,  # a run has a /tmp of its own
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener,
    ):
        path = Path(folder, "log")
        listener.bind(str(path))
        for each, mode in ((Path(folder), 0o755), (path, 0o666)):
            each.chmod(mode)
        yield {"datagram_socket": str(path)}


@contextlib.contextmanager
def _system_v(key: int) -> Iterator[None]:
    """A world-accessible semaphore, queue and shared memory, as other programs create them."""
    libc = ctypes.CDLL(None)
    ids = (libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666), libc.shmget(key, 4096, 0o1666))
    try:
        yield
    finally:
        libc.semctl(ids[0], 0, 0)
        libc.msgctl(ids[1], 0, None)
        libc.shmctl(ids[2], 0, None)
