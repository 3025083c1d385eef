"""``manage.py reap``: the loop that the supervisor keeps alive beside web and worker."""

from __future__ import annotations

import logging
import signal
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, close_old_connections

from registry.packages.problems import Refused
from worker.reaper import EVERY_S, SWEEP_EVERY_S, reap_once, sweep_once

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Take back runs of dead workers, wake workers that were missed, sweep what nothing needs."
    requires_system_checks: list[str] = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="once, with the sweeps, and end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            reap_once()
            sweep_once()
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        swept_at = 0.0
        while not stop.is_set():
            _calmly(reap_once)
            if time.monotonic() - swept_at > SWEEP_EVERY_S:
                swept_at = time.monotonic()
                _calmly(sweep_once)
            stop.wait(EVERY_S)


def _calmly(verb: Any) -> None:
    """A database or a bucket that is away for a while is no reason to end."""
    close_old_connections()
    try:
        verb()
    except (DatabaseError, OSError, Refused):
        log.warning("%s will be tried again", verb.__name__, exc_info=True)
