"""A Prefect flow (one process per run) and a Prefect task (in warm workers) that start the measured
script.
"""

from __future__ import annotations

import sys

from prefect import flow, task
from prefect.task_worker import serve

from bench import _started

NAME = "bench"


@flow(name=NAME)
def start(file: str) -> str:
    return _started.plain(file).decode()


@task(name=NAME)
def begin(file: str) -> str:
    return _started.plain(file).decode()


if __name__ == "__main__":
    if sys.argv[1] == "flow":
        start.serve(name=NAME, limit=int(sys.argv[2]), print_starting_message=False)
    else:
        serve(begin, limit=1)
