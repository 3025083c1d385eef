"""The driver for RQ, which runs in the peers' interpreter. With the argument ``work``, it is a worker that
forks for each job.

The driver reads lines ``[kind, count]``. It queues all jobs at once and prints the seconds until the last job
has finished.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from importlib.metadata import version

from redis import Redis
from rq import Queue, Worker

from bench import _started  # imported before the fork, as RQ advises

KINDS = {"rq": _started.plain, "rq_bwrapped": _started.bwrapped}
_EVERY_S = 0.02
_TIMEOUT_S = 600


def main() -> None:
    if sys.argv[1] == "work":
        return _work(*sys.argv[2:])
    options = json.loads(sys.argv[1])
    name = f"bench-{secrets.token_hex(4)}"
    queue = Queue(name, connection=Redis.from_url(options["redis"]))
    command = [sys.executable, "-m", "bench._peer_rq", "work", options["redis"], name]
    workers = [subprocess.Popen(command, stdout=sys.stderr) for _ in range(options["processes"])]
    try:
        kinds = [kind for kind in KINDS if kind != "rq_bwrapped" or options["bwrap"]]
        for kind in kinds:
            _burst(queue, kind, options["processes"] * 2, options["file"])  # warm-up
        print(json.dumps({"version": version("rq"), "kinds": kinds}), flush=True)
        for line in sys.stdin:
            kind, count = json.loads(line)
            print(json.dumps(_burst(queue, kind, count, options["file"])), flush=True)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()
        queue.delete(delete_jobs=True)


def _work(redis: str, name: str) -> None:
    connection = Redis.from_url(redis)
    Worker([Queue(name, connection=connection)], connection=connection).work(logging_level="WARNING")


def _burst(queue: Queue, kind: str, count: int, file: str) -> float:
    """The seconds for ``count`` jobs. Creates the jobs before the time starts, as ``bench._site`` creates
    runs.
    """
    pipeline = queue.connection.pipeline()
    made = [Queue.prepare_data(KINDS[kind], args=(file,)) for _ in range(count)]
    jobs = {job.id for job in queue.enqueue_many(made, pipeline=pipeline)}
    begun = time.perf_counter()
    pipeline.execute()
    while not jobs <= set(queue.finished_job_registry.get_job_ids(cleanup=False)):
        failed = jobs & set(queue.failed_job_registry.get_job_ids(cleanup=False))
        if failed or time.perf_counter() - begun > _TIMEOUT_S:
            raise SystemExit(f"RQ does not finish its jobs, {len(failed)} of {count} failed")
        time.sleep(_EVERY_S)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
