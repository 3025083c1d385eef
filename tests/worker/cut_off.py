"""``python -m tests.worker.cut_off``: a run of a host whose clock is late, whose database restarts twice.

Prints a line of JSON: what was taken back, what the worker was told, whether the end was written, the log.
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

OTHERS = "datname = '{}' AND pid <> pg_backend_pid()"
OVER_A_HEARTBEAT_S = 0.6


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from worker import execution, recording, states
    from worker.models import Run, Status
    from worker.protocols.call import Outcome
    from worker.supervision import Supervision
    from worker.ways import Result

    now = timezone.now() - timedelta(hours=2)
    Run.objects.create(skill_label="a/b", request={}, status=Status.QUEUED, run_after=now, created_at=now)
    lapsed, claim = claimed_where_the_clock_is_late()
    watch = Supervision(claim)
    watch.on_output("stderr", b"one\n")
    told = [_told(watch), _told(watch)]  # its first line is written, then it prints nothing for long
    cut_every_connection()
    told += [_told(watch)]
    states.cancel(claim.run_id)
    told += [_told(watch)]
    cut_every_connection()
    held = execution._record(claim, watch, Result(Outcome(success=True)))
    print(json.dumps([lapsed, told, held, recording.log_after(Run.objects.get(), 1).text]))


def claimed_where_the_clock_is_late() -> tuple[list[str], Any]:
    """A claim of a host whose clock is wrong, and what others take from it before and after it renews."""
    from worker import clock, states

    late = timezone.now() - timedelta(hours=1)
    with mock.patch("django.utils.timezone.now", return_value=late):
        claim = states.claim_next("here:1")
        lapsed = states.lapse(clock.now())
        assert states.renew(claim)
    return lapsed + states.lapse(clock.now()), claim


def _told(watch) -> str | None:
    time.sleep(OVER_A_HEARTBEAT_S)
    return watch.tick()


def cut_every_connection() -> None:
    from django.db import connection

    from tests import cluster

    others = OTHERS.format(connection.settings_dict["NAME"])
    statement = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
    cluster.execute(os.environ["DATABASE_URL"], statement)


if __name__ == "__main__":
    main()
