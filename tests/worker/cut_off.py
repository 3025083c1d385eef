"""``python -m tests.worker.cut_off``: a run whose database ends every connection, as a restart does, twice.

Prints a line of JSON: what the worker was told meanwhile, whether the run was written, its log.
"""

from __future__ import annotations

import json
import os
import time

import django

OTHERS = "datname = '{}' AND pid <> pg_backend_pid()"
OVER_A_HEARTBEAT_S = 0.6


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.utils import timezone

    from worker import execution, recording, states
    from worker.models import Run, Status
    from worker.protocols.call import Outcome
    from worker.supervision import Supervision
    from worker.ways import Result

    now = timezone.now()
    Run.objects.create(skill_label="a/b", request={}, status=Status.QUEUED, run_after=now, created_at=now)
    claim = states.claim_next("here:1")
    watch = Supervision(claim)
    watch.on_output("stderr", b"one\n")
    told = [_told(watch), _told(watch)]  # its first line is written, then it prints nothing for long
    cut_every_connection()
    told += [_told(watch)]
    states.cancel(claim.run_id)
    told += [_told(watch)]
    cut_every_connection()
    held = execution._record(claim, watch, Result(Outcome(success=True)))
    print(json.dumps([told, held, recording.log_after(Run.objects.get(), 1).text]))


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
