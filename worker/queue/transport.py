"""The embedded broker: kombu's filesystem transport, with two fixes.

Readers never see half a message. Workers poll in Celery's event loop; Celery then uses a process pool without
locks, so a killed child can't block the others.
"""

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
_LOOK_S = 0.005  # pause between two polls of the folder; a poll takes 20 µs


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Writes the message under a hidden name, then renames it. The original transport can show readers an
        empty file.
        """
        name = f"{time.time_ns()}_{os.urandom(8).hex()}.{queue}.msg"
        hidden = os.path.join(self.data_folder_out, f".{name}")
        with open(hidden, "w") as file:
            file.write(dumps(payload))
        os.rename(hidden, os.path.join(self.data_folder_out, name))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Returns the oldest message, or raises Empty. Only one of several readers succeeds in renaming the
        file.
        """
        ending = f".{queue}.msg"
        names = sorted(name for name in os.listdir(self.data_folder_in) if name.endswith(ending))
        for name in names:
            if name.startswith("."):
                continue
            processed = os.path.join(self.processed_folder, name)
            try:
                os.rename(os.path.join(self.data_folder_in, name), processed)
            except FileNotFoundError:
                continue
            # The file is empty after a power failure.
            with open(processed) as file, contextlib.suppress(ValueError):
                return loads(file.read())
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
    implements = filesystem.Transport.implements.extend(asynchronous=True)
    default_connection_params: Any = {}  # a folder has no host, so none is required
    cycle: Any

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(_LOOK_S, self._deliver_all)

    def _deliver_all(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self.cycle.get(self._deliver)


TRANSPORT_ALIASES[ALIAS] = "worker.queue.transport:Transport"
for scheme in ("redis", "rediss"):  # kombu's own aliases, because kombu configures TLS for "rediss"
    TRANSPORT_ALIASES[scheme] = "worker.queue.redis_transport:RedisTransport"


def folders(var: Path) -> dict[str, str]:
    """Creates the broker's folders below ``var`` if missing, and returns them as kombu's transport
    options.
    """
    queue, processed, control = (var / "broker" / name for name in ("queue", "taken", "control"))
    for folder in (queue, processed, control):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "processed_folder": str(processed),
        "control_folder": str(control),
    }


def sweep(var: Path, *, now: float | None = None) -> int:
    """Removes processed messages and unfinished writes that are older than a minute; returns how many.

    ``now`` is in epoch seconds.
    """
    before = (time.time() if now is None else now) - _PROCESSED_KEPT_S
    removed = 0
    for folder in ("queue", "taken"):
        for entry in os.scandir(var / "broker" / folder) if (var / "broker" / folder).is_dir() else ():
            if (folder == "taken" or entry.name.startswith(".")) and _is_older(entry, before):
                Path(entry.path).unlink(missing_ok=True)
                removed += 1
    return removed


def _is_older(entry: os.DirEntry[str], moment: float) -> bool:
    try:
        return entry.stat().st_mtime < moment
    except FileNotFoundError:
        return False
