"""Sends orders to the launcher, a process that each worker process starts with its first run."""

import array
import atexit
import json
import os
import socket
import subprocess
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worker.sandbox import runtimes

_BOOT = "import sys; sys.path.append(sys.argv[1]); from inner.launcher import main; main(int(sys.argv[2]))"
_lock = threading.Lock()
_run_sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class _Launcher:
    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
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
        self.control.close()
        self.process.wait()


_launcher: _Launcher | None = None


def start(
    order: dict[str, Any], streams: list[int], lock: int | None, namespaces: Sequence[int] = ()
) -> socket.socket:
    """Sends an order to the launcher, which is started if needed; returns the run socket.

    The run socket delivers the run's status messages; closing it ends the run. ``streams`` are the script's
    ends of its streams, then the proxy socket if there is one. ``lock`` is a descriptor that the run's init
    process holds until the last process of the run is gone. ``namespaces`` are those of a scratch space that
    the run joins. Raises OSError if the launcher can't be reached or restarted.
    """
    ours, theirs = socket.socketpair()
    _run_sockets.add(ours)
    order_fd = os.memfd_create("order")
    try:
        os.write(order_fd, json.dumps(order).encode())
        os.lseek(order_fd, 0, os.SEEK_SET)
        locks = [] if lock is None else [lock]
        _send([order_fd, theirs.fileno(), *locks, *streams, *namespaces], b"l" if locks else b"n")
    except BaseException:
        ours.close()
        raise
    finally:
        os.close(order_fd)
        theirs.close()
    return ours


def _send(descriptors: list[int], message: bytes) -> None:
    """Sends a message to the launcher. After an OSError, retries once with a new launcher, because the old
    one may be dead.
    """
    global _launcher
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    with _lock:
        for last in (False, True):
            _launcher = _launcher or _Launcher()
            try:
                _launcher.control.sendmsg([message], ancillary)
                return
            except OSError:
                _launcher.close()
                _launcher = None
                if last:
                    raise


def _close_inherited() -> None:
    """Closes a forked child's copies of sockets, which would keep runs alive after the parent's death.

    The child starts its own launcher when it needs one.
    """
    global _launcher, _lock
    for run_socket in list(_run_sockets):
        run_socket.close()
    if _launcher:
        _launcher.control.close()
        # The launcher is another process's child, so this process can't wait for it and must not warn.
        _launcher.process.returncode = 0
    _launcher, _lock = None, threading.Lock()


def _close() -> None:
    global _launcher
    if _launcher:
        _launcher.close()
        _launcher = None


os.register_at_fork(after_in_child=_close_inherited)
atexit.register(_close)
