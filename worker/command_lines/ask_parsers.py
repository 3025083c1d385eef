"""Asks the parsers of published scripts how the scripts are called, in the sandbox."""

from __future__ import annotations

import fcntl
import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.models import EntryCommandLine
from registry.packages.command_lines.main_part import module_name, runs_as_module
from registry.packages.problems import Refusal
from registry.versions.publishing import parser_answers
from worker.attempts.unpacking import open_package
from worker.core.sandbox_settings import jobs_folder, sandbox_settings
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.tiers import available

log = logging.getLogger(__name__)
MAX_TASK_S = 300
BURST_S = 10.0
_CAPTURE = Path(__file__).with_name("capture.py")
_LIMITS = Limits(timeout_s=10, memory_mb=512, output_bytes=1 << 20, disk_mb=16, files=256, processes=16)
_CHANNEL_BYTES = 1 << 20


def ask_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Asks the parsers of published scripts, for at most ``BURST_S``; returns how many answered.

    Only one process of a machine does this at a time, so that the others stay free for runs. A script whose
    parser can't be asked keeps its command line.
    """
    until, answered = time.monotonic() + BURST_S, 0
    with _only_here() as is_alone:
        while is_alone and not is_stopping() and time.monotonic() < until:
            row = parser_answers.claim_next()
            if row is None:
                break
            answered += _ask(row)
    return answered


@contextmanager
def _only_here() -> Iterator[bool]:
    """Yields whether no other process of this machine is in this block."""
    jobs_folder().mkdir(parents=True, exist_ok=True)
    with open(jobs_folder() / ".parsers.lock", "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _ask(row: EntryCommandLine) -> bool:
    """Whether the parser answered. A version that is held for review starts nothing."""
    if row.version.is_held:
        return False
    try:
        package = open_package(row.version.digest)
        is_module = runs_as_module(row.path, package.read(row.path))
        description = start_script(package.folder, module_name(row.path) if is_module else row.path)
        return bool(description) and parser_answers.store_answer(row, description)
    except Refusal as error:
        log.info("The parser of %s was not asked: %s", row.path, error.code)
    except Exception:  # the next script must still be asked
        log.exception("could not ask the parser of %s", row.path)
    return False


def start_script(folder: Path, script: str, words: Sequence[str] | None = None) -> Any:
    """What the script's parser reports: its description, or with ``words`` whether it accepts them.

    Starts the script in the sandbox, without network, secrets and dependencies, until it parses its
    arguments. None if it never does, and on a site without a sandbox.
    """
    site = sandbox_settings()
    if site.backend is None and available.choose(site) == "unsafe":
        return None
    job_folder = jobs_folder() / f"parser-{secrets.token_hex(8)}"
    (job_folder / "output").mkdir(mode=0o755, parents=True)
    try:
        (job_folder / _CAPTURE.name).write_bytes(_CAPTURE.read_bytes())
        argv = (
            "python",
            "-B",
            f"/job/{_CAPTURE.name}",
            "/skill",
            script,
            *(() if words is None else ("--", *words)),
        )
        job = Job(argv, folder, job_folder, channel_bytes=_CHANNEL_BYTES, limits=_LIMITS)
        result = available.run(job, site=site)
    finally:
        remove_tree(job_folder)
    try:
        return json.loads(result.channel) if result.channel else None
    except (ValueError, RecursionError):
        return None
