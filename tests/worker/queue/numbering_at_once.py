"""``python -m tests.worker.queue.numbering_at_once``: four threads insert runs of one new skill.

Prints a JSON list: the number of each run, and the exceptions that threads met.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import django

THREADS = 4
RUNS = 15  # per thread


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.models import Skill, Team

    skill = Skill.objects.create(team=Team.objects.create(slug="race", name="Race"), slug="numbered")
    gate, problems = threading.Barrier(THREADS), list[str]()
    threads = [threading.Thread(target=insert, args=(skill.pk, gate, problems)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    from worker.models import Run

    print(json.dumps([*Run.objects.order_by("number").values_list("number", flat=True), *problems]))


def insert(skill_id: int, gate: threading.Barrier, problems: list[str]) -> None:
    from django.db import connection
    from django.utils import timezone

    from worker.models import Run
    from worker.queue import states

    now = timezone.now()
    values: dict[str, Any] = {"skill_id": skill_id, "request": {}, "run_after": now, "created_at": now}
    try:
        gate.wait(60)
        for _ in range(RUNS):
            states.enqueue(Run(skill_label="race/numbered", **values))
    except Exception as error:
        problems.append(repr(error))
    finally:
        connection.close()


if __name__ == "__main__":
    main()
