"""Loads published modules in the sandbox, as runs do, and reports those that fail."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.additions.additions import additions_of
from registry.http_client.addresses import resolve_host
from registry.packages.archive.paths import printable
from registry.packages.problems import Problem, Refusal
from registry.versions.publishing.later_problems import add_problems
from worker.attempts.context import RuntimeEnvironment
from worker.attempts.network_use import can_try_network
from worker.attempts.unpacking import UnpackedPackage, open_package
from worker.command_lines import bursts
from worker.core.sandbox_settings import jobs_folder, sandbox_settings
from worker.core.storable import clean_text
from worker.dependencies.mounts import ready_environment
from worker.dependencies.runtimes.choice import runtime_of
from worker.executors.failure_cause import failure_cause, package_folders
from worker.executors.script import manifest_environment
from worker.files.inputs import WORK_DIR
from worker.files.working_folder import OUTPUT, create_working_folder
from worker.models import ModuleLoad, ModuleLoadState, SkipReason
from worker.module_loads import queue
from worker.module_loads.errors import LOADED_MODULE_MISSING, MODULE_LOAD_FAILED
from worker.protocols.call import Cause
from worker.protocols.error_output import read_lines
from worker.protocols.errors import HOST_REFUSED, MODULE_MISSING
from worker.protocols.failure_kinds import failure_kind
from worker.protocols.formats import execute_module
from worker.sandbox.cleanup import remove_tree
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job, SandboxResult
from worker.sandbox.tiers import available
from worker.script_checks.errors import EXPORT_MISSING

log = logging.getLogger(__name__)
_LIMITS = Limits(timeout_s=10, memory_mb=1024, output_bytes=1 << 20, disk_mb=16, files=256, processes=64)
_CHANNEL_BYTES = 1 << 20
_PLACEHOLDER = "placeholder"  # the placeholder for each secret


class UnknownLoadError(Exception):
    """Raised if an attempt does not show whether runs can load the module."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def load_waiting(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Loads modules of published versions for at most ``bursts.BURST_S``; returns how many."""
    return len(bursts.run_burst(queue.claim_next, _load, is_stopping))


def _load(row: ModuleLoad) -> None:
    """Loads the module, adds its problem, if any, to the version, and stores the state.

    The state stays ``skipped``, with the reason, if the attempt is not possible or inconclusive.
    """
    try:
        problem = load_module(row)
    except UnknownLoadError as error:
        ModuleLoad.objects.filter(pk=row.pk).update(reason=error.reason)
        log.info("The module %s was not loaded: %s", row.path, error)
    except Refusal as error:
        log.info("The module %s was not loaded: %s", row.path, error)
    except Exception:  # an error of one module must not stop the others
        log.exception("could not load the module %s", row.path)
    else:
        if problem:
            add_problems(row.version, [problem])
        state = ModuleLoadState.FAILED if problem else ModuleLoadState.PASSED
        ModuleLoad.objects.filter(pk=row.pk).update(state=state, reason="")


def load_module(row: ModuleLoad) -> Problem | None:
    """The problem of a module that can't be loaded; None if it can.

    Loads the module in the sandbox with the version's dependencies and a placeholder for each secret, without
    network; does not call ``execute``. Raises UnknownLoadError if the attempt is not possible, if the module
    needs the network, or if a limit ends the attempt. Also raises the refusals of the storage.
    """
    site = sandbox_settings()
    if site.backend is None and available.choose(site) == "unsafe":
        raise UnknownLoadError(SkipReason.NO_SANDBOX)
    package = open_package(row.version.digest)
    try:
        environment = ready_environment(package, runtime_of(row.version), additions_of(row.version).library)
    except Refusal as error:  # such as a failed build, which the version's page shows
        raise UnknownLoadError(SkipReason.DEPENDENCIES) from error
    with _job_folder(package) as folder:
        result = available.run(_job(package, row.path, environment, folder), site=site)
    return _problem(row.path, package, result)


@contextmanager
def _job_folder(package: UnpackedPackage) -> Iterator[Path]:
    folder = jobs_folder() / f"module-{secrets.token_hex(8)}"
    (folder / OUTPUT).mkdir(mode=0o755, parents=True)
    try:
        create_working_folder(folder, (), package.paths, check_stop=lambda: None)
        yield folder
    finally:
        remove_tree(folder)


def _job(package: UnpackedPackage, path: str, environment: RuntimeEnvironment, folder: Path) -> Job:
    placeholders = dict.fromkeys(package.manifest.security.secrets, _PLACEHOLDER)
    variables = {**manifest_environment(package.manifest), **environment.environment, **placeholders}
    request = json.dumps({"entry": f"{execute_module.PACKAGE}/{path}", "load_only": True})
    return Job(
        environment.argv(execute_module.argv(path)),
        package.folder,
        folder,
        stdin=request.encode(),
        environment=variables,
        mounts=environment.mounts,
        channel_bytes=_CHANNEL_BYTES,
        # An empty list refuses all hosts.
        network=() if environment.mounts or can_try_network(package) else None,
        resolve=resolve_host,
        cwd=WORK_DIR,
        limits=_LIMITS,
    )


def _problem(path: str, package: UnpackedPackage, result: SandboxResult) -> Problem | None:
    """The problem that the runner's untrusted answer reports; None if there is none.

    Raises UnknownLoadError if the answer does not show whether runs can load the module.
    """
    if result.ending != "exited":
        raise UnknownLoadError(SkipReason.LIMIT)
    outcome = execute_module.interpret(result)
    if outcome.success:
        return None
    if outcome.failure_code == execute_module.EXECUTE_MISSING.name:
        return EXPORT_MISSING.problem().at(printable(path), 1)
    folders = package_folders(package.folder)
    cause = failure_cause(outcome, result, folders=folders) or Cause("", outcome.message)
    lines = read_lines(result.stderr)
    kind = failure_kind(cause, lines, result.network, exit_code=result.exit_code, folders=folders)
    if kind and kind.problem.code == HOST_REFUSED.name:
        raise UnknownLoadError(SkipReason.NETWORK)
    if kind and kind.problem.code == MODULE_MISSING.name:
        problem = LOADED_MODULE_MISSING.problem(module=_text(str(kind.problem.params["module"])))
    else:
        reason = f"{cause.type}: {cause.message}" if cause.type else cause.message
        problem = MODULE_LOAD_FAILED.problem(reason=_text(reason))
    file = cause.file if cause.file in package.paths else ""
    return problem.at(printable(file or path), cause.line if file else None)


def _text(text: str) -> str:
    return printable(clean_text(text))
