"""Writes the heartbeat of a worker process in a thread of its main process, which also ends a deaf worker."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections

from worker.core.host import worker_name
from worker.core.sandbox_settings import jobs_folder
from worker.health import heartbeats
from worker.health.sandbox_report import sandbox_report
from worker.models import ProcessKind
from worker.service.deaf_worker import DeafnessCheck, end_worker

log = logging.getLogger(__name__)
_LOOP_SILENT_S = 15.0  # an event loop that hangs this long counts as dead
_FORK_WAIT_S = 5.0
_STOP_WAIT_S = 3.0


class HeartbeatThread(threading.Thread):
    """Writes a heartbeat every few seconds, as long as the worker's event loop calls ``turn`` or reconnects.

    Prevents forks during a write, because the child would inherit this thread's locks but not this thread.
    """

    def __init__(
        self,
        slots: int,
        count_busy: Callable[[], int],
        is_reconnecting: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(daemon=True, name="heartbeat")
        self.slots, self.count_busy, self.is_reconnecting = slots, count_busy, is_reconnecting
        self.process_name = worker_name()
        self.loop_turned = time.monotonic()
        self.stopping = threading.Event()
        self.writing = threading.Lock()
        self.locked_by_fork = False

    def start(self) -> None:
        os.register_at_fork(
            before=self._lock_for_fork, after_in_parent=self._unlock, after_in_child=self._unlock
        )
        super().start()

    def turn(self) -> None:
        """Records that the event loop works; the loop calls this every second."""
        self.loop_turned = time.monotonic()

    def stop(self) -> None:
        """Ends the thread and removes the process's row, which marks a normal end."""
        self.stopping.set()
        self.join(_STOP_WAIT_S)
        self._write(lambda: heartbeats.stop(self.process_name))

    def run(self) -> None:
        sandbox, deafness = sandbox_report(), DeafnessCheck(self.slots)
        self._write(heartbeats.forget_ended)
        while not self.stopping.is_set():
            if self.is_reconnecting():
                self.turn()  # the loop continues as soon as the broker answers
            if time.monotonic() - self.loop_turned < _LOOP_SILENT_S:
                self._write(lambda: self._beat(sandbox))
            else:
                log.error("The worker's event loop hangs; no heartbeat is written")
            self._write(deafness.look)
            if deafness.is_deaf:
                end_worker()
            self.stopping.wait(heartbeats.EVERY_S)

    def _beat(self, sandbox: dict[str, Any]) -> None:
        folder = jobs_folder()
        disk = shutil.disk_usage(folder if folder.is_dir() else settings.SKILLQUAY_VAR)
        details = {**sandbox, "disk_free": disk.free, "disk_total": disk.total}
        heartbeats.beat(
            ProcessKind.WORKER, self.process_name, slots=self.slots, busy=self.count_busy(), details=details
        )

    def _write(self, write: Callable[[], None]) -> None:
        with self.writing:
            try:
                write()
            except (DatabaseError, OSError) as error:
                log.warning("Can't write the heartbeat: %s", error)
            finally:
                connections.close_all()  # a forked child must not inherit a connection

    def _lock_for_fork(self) -> None:
        self.locked_by_fork = self.writing.acquire(timeout=_FORK_WAIT_S)

    def _unlock(self) -> None:
        if self.locked_by_fork:
            self.locked_by_fork = False
            self.writing.release()
