"""The driver for Prefect, which runs in the peers' interpreter. It starts a server, a flow and task workers.

Reads lines ``[kind, count]``. Prints the seconds from the first request until the server reports the last run
as completed.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

_EVERY_S = 0.1
_TIMEOUT_S = 600


def main() -> None:
    options = json.loads(sys.argv[1])
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="skillquay-bench-prefect-"))
        _settle(folder)
        port = os.environ["PREFECT_API_URL"].split(":")[2].split("/")[0]
        server = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", port, "--no-ui"]
        stack.enter_context(_running(server))
        _until(_healthy)
        stack.enter_context(_running(["bench._peer_flow", "flow", str(options["processes"])]))
        for _ in range(options["processes"]):
            stack.enter_context(_running(["bench._peer_flow", "task"]))
        kinds = _Kinds(options["file"])
        for kind in kinds.verbs:
            kinds.timed(kind, options["processes"])  # warm-up
        print(json.dumps({"version": version("prefect"), "kinds": list(kinds.verbs)}), flush=True)
        for line in sys.stdin:
            print(json.dumps(kinds.timed(*json.loads(line))), flush=True)


def _settle(folder: str) -> None:
    """Sets environment variables: database in ``folder``, server on localhost only, no telemetry."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    os.environ |= {
        "PREFECT_HOME": folder,
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_RUNNER_POLL_FREQUENCY": "1",  # seconds, its minimum; the default is 10
        "PREFECT_LOGGING_LEVEL": "WARNING",
    }


@contextmanager
def _running(module: list[str]) -> Iterator[None]:
    """Runs a module during the block; its output goes to a file, whose end is printed after SystemExit."""
    said = Path(os.environ["PREFECT_HOME"], f"{secrets.token_hex(4)}.log")
    with said.open("w") as file:
        process = subprocess.Popen([sys.executable, "-m", *module], stdout=file, stderr=file)
    try:
        yield
    except SystemExit:
        print(said.read_text()[-2000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _healthy() -> bool:
    try:
        return bool(urlopen(os.environ["PREFECT_API_URL"] + "/health", timeout=5).status == 200)
    except (URLError, OSError):
        return False


class _Kinds:
    """A method per kind of run. It queues runs and returns a function that reads their states."""

    def __init__(self, file: str) -> None:
        from prefect.client.orchestration import get_client  # reads its settings at import

        self.file, self.client = file, get_client(sync_client=True)
        self.verbs = {"prefect": self._flows, "prefect_tasks": self._tasks}
        self.served: list[Any] = []
        _until(self._is_served)

    def timed(self, kind: str, count: int) -> float:
        begun = time.perf_counter()
        states = self.verbs[kind](count)
        _until(lambda: _completed(states(), kind))
        return time.perf_counter() - begun

    def _flows(self, count: int) -> Callable[[], list[Any]]:
        from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

        make, parameters = self.client.create_flow_run_from_deployment, {"file": self.file}
        ids = [make(self.served[0], parameters=parameters).id for _ in range(count)]
        wanted = FlowRunFilter(id=FlowRunFilterId(any_=ids))
        return lambda: self.client.read_flow_runs(flow_run_filter=wanted)

    def _is_served(self) -> bool:
        from prefect.exceptions import ObjectNotFound

        try:
            self.served.append(self.client.read_deployment_by_name("bench/bench").id)
        except ObjectNotFound:
            return False
        return True

    def _tasks(self, count: int) -> Callable[[], list[Any]]:
        from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterId

        from bench import _peer_flow

        ids = [_peer_flow.begin.delay(self.file).task_run_id for _ in range(count)]
        wanted = TaskRunFilter(id=TaskRunFilterId(any_=ids))
        return lambda: self.client.read_task_runs(task_run_filter=wanted)


def _completed(runs: list[Any], kind: str) -> bool:
    kinds = [run.state_type.value for run in runs]
    if {"FAILED", "CRASHED"} & set(kinds):
        raise SystemExit(f"Prefect does not finish its runs: {kind} {kinds}")
    return bool(kinds) and set(kinds) == {"COMPLETED"}


def _until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + _TIMEOUT_S
    while not done():
        if time.monotonic() > until:
            raise SystemExit("Prefect does not answer")
        time.sleep(_EVERY_S)


if __name__ == "__main__":
    main()
