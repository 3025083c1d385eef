"""The embedded broker: kombu's filesystem transport, mended.

No reader ever sees half a message, and a worker looks for them in Celery's event loop: with the loop comes
Celery's pool without locks, which no child that is killed can take along.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

ALIAS = "skillquay"
_PROCESSED_KEPT_S = 60.0
_LOOK_S = 0.005  # between two looks at the folder: one is 20 µs


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
            with open(taken) as file, contextlib.suppress(ValueError):  # emptied where the power went
                return loads(file.read())
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
    implements = filesystem.Transport.implements.extend(asynchronous=True)
    default_connection_params: Any = {}  # a folder has no host: none is missed
    cycle: Any

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(_LOOK_S, self._take_all)

    def _take_all(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self.cycle.get(self._deliver)


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
