"""The embedded broker: kombu's filesystem transport, mended.

No reader ever sees half a message, and a worker waits in Celery's event loop instead of polling: the kernel
tells it of each message (inotify). With the loop comes Celery's pool without locks, which no child that is
killed can take along.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

ALIAS = "skillquay"
_PROCESSED_KEPT_S = 60.0
_IN_MOVED_TO = 0x80
_EVENTS_BYTES = 65_536
_LOOK_S = 0.02  # should the kernel's word be missed


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Writes under a hidden name and renames: the stock transport shows a reader an empty file."""
        name = f"{time.time_ns()}_{os.urandom(8).hex()}.{queue}.msg"
        hidden = os.path.join(self.data_folder_out, f".{name}")
        with open(hidden, "w") as file:
            file.write(dumps(payload))
        os.rename(hidden, os.path.join(self.data_folder_out, name))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The oldest message; of several readers one wins the rename."""
        ending = f".{queue}.msg"
        names = sorted(name for name in os.listdir(self.data_folder_in) if name.endswith(ending))
        for name in names:
            if name.startswith("."):
                continue
            taken = os.path.join(self.processed_folder, name)
            try:
                os.rename(os.path.join(self.data_folder_in, name), taken)
            except FileNotFoundError:
                continue
            with open(taken) as file:
                return loads(file.read())
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
    implements = filesystem.Transport.implements.extend(asynchronous=True)
    default_connection_params: Any = {}  # a folder has no host: none is missed
    client: Any
    cycle: Any
    watch: int | None = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Each turn of the loop takes what lies there; a new message wakes it, and so does a short timer."""
        self.watch = _watch(self.client.transport_options["data_folder_in"])
        loop.add_reader(self.watch, self._heard)
        loop.on_tick.add(self._take_all)
        loop.call_repeatedly(_LOOK_S, self._take_all)

    def close_connection(self, connection: Any) -> None:
        if self.watch is not None:
            os.close(self.watch)
            self.watch = None
        super().close_connection(connection)

    def _heard(self) -> None:
        if self.watch is not None:
            with contextlib.suppress(BlockingIOError):
                os.read(self.watch, _EVENTS_BYTES)

    def _take_all(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self.cycle.get(self._deliver)


def _watch(folder: str) -> int:
    """A descriptor that is readable when a file was moved into the folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if descriptor < 0 or libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_MOVED_TO) < 0:
        raise OSError(ctypes.get_errno(), f"inotify: {os.strerror(ctypes.get_errno())}", folder)
    return int(descriptor)


TRANSPORT_ALIASES[ALIAS] = "worker.transport:Transport"


def folders(var: Path) -> dict[str, str]:
    """The broker's folders below ``var``, made when missing, as kombu's transport options."""
    queue, taken, control = (var / "broker" / name for name in ("queue", "taken", "control"))
    for folder in (queue, taken, control):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "processed_folder": str(taken),
        "control_folder": str(control),
    }


def sweep(var: Path, *, now: float | None = None) -> int:
    """Removes messages that were taken, and writes that never ended, more than a minute ago."""
    before = (time.time() if now is None else now) - _PROCESSED_KEPT_S
    removed = 0
    for folder in ("queue", "taken"):
        for entry in os.scandir(var / "broker" / folder) if (var / "broker" / folder).is_dir() else ():
            if (folder == "taken" or entry.name.startswith(".")) and _older(entry, before):
                Path(entry.path).unlink(missing_ok=True)
                removed += 1
    return removed


def _older(entry: os.DirEntry[str], moment: float) -> bool:
    try:
        return entry.stat().st_mtime < moment
    except FileNotFoundError:
        return False
