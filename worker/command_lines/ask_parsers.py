"""Reads the command lines of published scripts from their own parsers, by starting the scripts in the
sandbox.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from registry.additions.additions import additions_of
from registry.models import EntryCommandLine
from registry.packages.command_lines.main_part import module_name, runs_as_module
from registry.packages.command_lines.python.described_parser import needs_dependencies
from registry.packages.problems import Refusal
from registry.versions.publishing import parser_answers
from worker.attempts.context import RuntimeEnvironment
from worker.attempts.unpacking import UnpackedPackage, open_package
from worker.command_lines import bursts
from worker.core.sandbox_settings import jobs_folder, sandbox_settings
from worker.dependencies.mounts import ready_environment
from worker.dependencies.runtimes.choice import runtime_of
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.tiers import available

log = logging.getLogger(__name__)
MAX_TASK_S = 300
_FILES = [Path(__file__).with_name(name) for name in ("capture.py", "capture_commands.py")]
_LIMITS = Limits(timeout_s=10, memory_mb=512, output_bytes=1 << 20, disk_mb=16, files=256, processes=16)
_CHANNEL_BYTES = 1 << 20
_EMPTY = RuntimeEnvironment()


def ask_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Runs the parsers of waiting scripts for at most ``bursts.BURST_S``; returns how many answered.

    A script without an answer keeps the command line that was read from its source.
    """
    return sum(bursts.run_burst(parser_answers.claim_next, _ask, is_stopping))


def _ask(row: EntryCommandLine) -> bool:
    """Reads one script's command line from its parser; returns whether the parser answered. Starts no script
    of a held version.
    """
    if row.version.is_held:
        return False
    try:
        package = open_package(row.version.digest)
        is_module = runs_as_module(row.path, package.read(row.path))
        environment = _environment(row, package)
        if environment is None:
            return False
        script = module_name(row.path) if is_module else row.path
        description = start_script(package.folder, script, environment=environment)
        return bool(description) and parser_answers.store_answer(row, description)
    except Refusal as error:
        log.info("The parser of %s was not asked: %s", row.path, error.code)
    except Exception:  # an error of one script must not stop the others
        log.exception("could not ask the parser of %s", row.path)
    return False


def _environment(row: EntryCommandLine, package: UnpackedPackage) -> RuntimeEnvironment | None:
    """The version's dependencies if the parser needs them; None if the parser's library is not among them.

    Raises the refusal of a failed build.
    """
    static, version = row.command_line, row.version
    if not needs_dependencies(static):
        return _EMPTY
    try:
        environment = ready_environment(package, runtime_of(version), additions_of(version).library)
    except Refusal:
        if static.library:
            raise
        return _EMPTY
    has_library = any((folder / static.library).is_dir() for folder in _site_folders(environment))
    return environment if has_library else None


def _site_folders(environment: RuntimeEnvironment) -> Iterator[Path]:
    """The folders on this machine that the sandbox adds to Python's path."""
    for place in environment.environment.get("PYTHONPATH", "").split(":"):
        if place in environment.mounts:
            yield environment.mounts[place]


def start_script(
    folder: Path,
    script: str,
    words: Sequence[str] | None = None,
    *,
    environment: RuntimeEnvironment = _EMPTY,
) -> Any:
    """The description of the script's parser or, with ``words``, the parser's report on whether it accepts
    them.

    Runs the script in the sandbox, without network and secrets, until it parses its arguments. Returns None
    if it parses none or if the site has no sandbox.
    """
    site = sandbox_settings()
    if site.backend is None and available.choose(site) == "unsafe":
        return None
    job_folder = jobs_folder() / f"parser-{secrets.token_hex(8)}"
    (job_folder / "output").mkdir(mode=0o755, parents=True)
    try:
        for file in _FILES:
            (job_folder / file.name).write_bytes(file.read_bytes())
        argv = (
            "python",
            "-B",
            f"/job/{_FILES[0].name}",
            "/skill",
            script,
            *(() if words is None else ("--", *words)),
        )
        job = Job(
            argv,
            folder,
            job_folder,
            environment=environment.environment,
            mounts=environment.mounts,
            channel_bytes=_CHANNEL_BYTES,
            limits=_LIMITS,
        )
        result = available.run(job, site=site)
    finally:
        remove_tree(job_folder)
    try:
        return json.loads(result.channel) if result.channel else None
    except (ValueError, RecursionError):
        return None
