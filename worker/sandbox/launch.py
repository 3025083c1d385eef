"""The worker's end of the launcher: one per process, started with the first run, gone with its process."""

from __future__ import annotations

import array
import atexit
import json
import os
import socket
import subprocess
import threading
import weakref
from pathlib import Path
from typing import Any

from worker.sandbox import runtimes

_BOOT = "import sys; sys.path.append(sys.argv[1]); from inner.launcher import main; main(int(sys.argv[2]))"
_lock = threading.Lock()
_leashes: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class _Launcher:
    def __init__(self) -> None:
        self.door, theirs = socket.socketpair()
        with theirs:
            command = [runtimes.interpreter(), "-I", "-S", "-B", "-c", _BOOT, str(Path(__file__).parent)]
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )

    def close(self) -> None:
        self.door.close()
        self.process.wait()


_launcher: _Launcher | None = None


def start(order: dict[str, Any], streams: list[int], lock: int | None) -> socket.socket:
    """Hands an order to the launcher; the socket returned says how the run goes, and closing it ends the run.

    ``lock`` is a descriptor that the keeper holds until the run's last process is gone.
    """
    ours, theirs = socket.socketpair()
    _leashes.add(ours)
    written = os.memfd_create("order")
    try:
        os.write(written, json.dumps(order).encode())
        os.lseek(written, 0, os.SEEK_SET)
        held = [] if lock is None else [lock]
        _send([written, theirs.fileno(), *held, *streams], b"l" if held else b"n")
    except BaseException:
        ours.close()
        raise
    finally:
        os.close(written)
        theirs.close()
    return ours


def _send(descriptors: list[int], message: bytes) -> None:
    """Once more with a new launcher where the old one was lost (out of memory, an administrator)."""
    global _launcher
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    with _lock:
        for last in (False, True):
            _launcher = _launcher or _Launcher()
            try:
                _launcher.door.sendmsg([message], ancillary)
                return
            except OSError:
                _launcher.close()
                _launcher = None
                if last:
                    raise


def _forget() -> None:
    """In a forked child: its copies must not keep the parent's runs alive when the parent dies."""
    global _launcher, _lock
    for leash in list(_leashes):
        leash.close()
    if _launcher:
        _launcher.door.close()
        _launcher.process.returncode = 0  # not this process's child: neither waited for nor warned about
    _launcher, _lock = None, threading.Lock()


def _close() -> None:
    global _launcher
    if _launcher:
        _launcher.close()
        _launcher = None


os.register_at_fork(after_in_child=_forget)
atexit.register(_close)
