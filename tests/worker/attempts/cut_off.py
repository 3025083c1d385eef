"""``python -m tests.worker.attempts.cut_off``: a run on a host with a late clock and a restarting database.

Prints a line of JSON: what was taken back, why the worker had to stop, whether the end was written, the log.
"""

from __future__ import annotations

import json
import os
import time
from datetime import timedelta
from typing import Any
from unittest import mock

import django
from django.utils import timezone

from tests.checks import not_none

OTHERS = "datname = '{}' AND pid <> pg_backend_pid()"
OVER_A_HEARTBEAT_S = 0.6


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from worker.attempts import recording
    from worker.attempts.context import AttemptResult
    from worker.attempts.monitor import AttemptMonitor
    from worker.executors import conductor
    from worker.models import Run, RunStatus
    from worker.protocols.call import Outcome
    from worker.queue import states

    now = timezone.now() - timedelta(hours=2)
    Run.objects.create(skill_label="a/b", request={}, status=RunStatus.QUEUED, run_after=now, created_at=now)
    lapsed, claim = claimed_where_the_clock_is_late()
    monitor = AttemptMonitor(claim)
    monitor.on_output("stderr", b"one\n")
    # Its first line is written, then it prints nothing for long.
    stops = [_check_stop(monitor), _check_stop(monitor)]
    cut_every_connection()
    stops += [_check_stop(monitor)]
    states.cancel(claim.run_id)
    stops += [_check_stop(monitor)]
    cut_every_connection()
    held = conductor._record(claim, monitor, AttemptResult(Outcome(success=True)))
    print(json.dumps([lapsed, stops, held, recording.read_log(Run.objects.get(), 1).text]))


def claimed_where_the_clock_is_late() -> tuple[list[str], Any]:
    """A claim of a host whose clock is wrong, and what others take from it before and after it renews."""
    from worker.core import clock
    from worker.queue import claims, retries

    late = timezone.now() - timedelta(hours=1)
    with mock.patch("django.utils.timezone.now", return_value=late):
        claim = not_none(claims.claim_next("here:1"))
        lapsed = retries.expire_leases(clock.now())
        assert claims.renew(claim)
    return lapsed + retries.expire_leases(clock.now()), claim


def _check_stop(monitor) -> str | None:
    time.sleep(OVER_A_HEARTBEAT_S)
    return monitor.check_stop()


def cut_every_connection() -> None:
    from django.db import connection

    from tests import cluster

    others = OTHERS.format(connection.settings_dict["NAME"])
    statement = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
    cluster.execute(os.environ["DATABASE_URL"], statement)


if __name__ == "__main__":
    main()
