"""``manage.py reap_runs``: does the site's recurring work, such as recovery, scheduled runs and
notifications.
"""

import logging
import signal
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, close_old_connections

from registry.packages.problems import Refusal
from worker.core import clock
from worker.run_batches.loop import RunBatchLoop, process_all
from worker.service.delivery_loop import DeliveryLoop, deliver_due
from worker.service.reaper import EVERY_S, SWEEP_EVERY_S, reap_once, sweep_once
from worker.service.retention_loop import RetentionLoop, count_and_remove
from worker.service.schedule_loop import ScheduleLoop, fire_due

log = logging.getLogger(__name__)
_RETRY_S = 1.0  # short, so that workers wake soon after a lost database is back


class Command(BaseCommand):
    help = (
        "Start scheduled runs, send notifications, recover runs of dead workers, wake workers for missed "
        "runs and delete unneeded data."
    )
    requires_system_checks: list[str] = []  # system checks import every page, which is slow

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="do all of this once, then exit")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            fire_due(clock.now())
            reap_once()
            process_all()
            deliver_due()
            count_and_remove()
            sweep_once()
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        loops = (ScheduleLoop(), DeliveryLoop(), RetentionLoop(), RunBatchLoop())
        for loop in loops:
            loop.start()
        swept_at = 0.0
        while not stop.is_set():
            done = _retry_later(reap_once)
            if time.monotonic() - swept_at > SWEEP_EVERY_S:
                swept_at = time.monotonic()
                _retry_later(sweep_once)
            stop.wait(EVERY_S if done else _RETRY_S)
        for loop in loops:
            loop.stop()


def _retry_later(verb: Any) -> bool:
    """Calls ``verb`` and returns True; if the database or storage fails, logs it and returns False."""
    close_old_connections()
    try:
        verb()
    except (DatabaseError, OSError, Refusal):
        log.warning("%s will be tried again", verb.__name__, exc_info=True)
        return False
    return True
