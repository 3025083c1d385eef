"""Executes a script in the sandbox and reads its answer and files."""

from __future__ import annotations

from dataclasses import replace

from registry.http_client.addresses import resolve_host
from registry.packages.package import Manifest
from registry.packages.reserved_variables import is_reserved
from worker.attempts.context import AttemptContext, AttemptResult
from worker.attempts.monitor import AttemptMonitor
from worker.attempts.network_use import can_try_network
from worker.child_runs import channel as children_channel
from worker.core.masking import MaskedOutput
from worker.core.sandbox_settings import sandbox_settings
from worker.executors.collect import collect_files
from worker.executors.failure_cause import explain_failure, package_folders
from worker.files.inputs import WORK_DIR
from worker.protocols import outcome as protocols_outcome
from worker.protocols.call import Call
from worker.protocols.formats import abp
from worker.protocols.formats.child_run_program import install_program
from worker.sandbox.policy import CheckStop, Job, SandboxResult, StopReason
from worker.sandbox.tiers import available

_CHANNEL_BYTES = 10_485_760


def execute(attempt: AttemptContext, call: Call) -> AttemptResult:
    """Runs the script; collects its files unless the lease is lost."""
    monitor = attempt.monitor
    with monitor.step("execute"), children_channel.open_channel(attempt) as channel:
        job = sandbox_job(attempt, call)
        if channel:
            job = replace(
                job,
                request_handler=channel.serve,
                environment={**job.environment, **install_program(attempt.folder)},
            )
        result = run_job(attempt, job, _check_stop(monitor, channel))
    _add_child_steps(monitor, channel)
    schema = abp.output_schema(attempt.package.manifest, call.request)
    outcome = protocols_outcome.interpret(call, result, output_schema=schema)
    if not outcome.success:
        outcome, result = explain_failure(
            outcome, result, attempt.package.paths, folders=package_folders(attempt.package.folder)
        )
        monitor.fail_step("execute", outcome.failure_code, outcome.message)
    if monitor.lost or result.ending == "lease_lost":
        return AttemptResult(outcome, result)
    return collect_files(attempt, outcome, result)


def run_job(attempt: AttemptContext, job: Job, check_stop: CheckStop) -> SandboxResult:
    """Runs a job of the attempt; masks the attempt's secrets in the returned result and in the log."""
    output = MaskedOutput(attempt.mask, attempt.monitor.on_output)
    try:
        return attempt.mask.mask_result(
            available.run(job, on_output=output, check_stop=check_stop, site=sandbox_settings())
        )
    finally:
        output.close()


def _check_stop(monitor: AttemptMonitor, channel: children_channel.ChildRunChannel | None) -> CheckStop:
    """Returns a ``check_stop`` function that also adds new child runs as steps, in the thread that writes to
    the database.
    """

    def check_stop() -> StopReason | None:
        _add_child_steps(monitor, channel)
        return monitor.check_stop()

    return check_stop


def _add_child_steps(monitor: AttemptMonitor, channel: children_channel.ChildRunChannel | None) -> None:
    for step in channel.take_steps() if channel else ():
        monitor.add_step(step)


def sandbox_job(attempt: AttemptContext, call: Call) -> Job:
    """The sandbox job of a call, with package, mounts, variables, secrets, allowed hosts and limits."""
    package = attempt.package
    return Job(
        argv=attempt.runtime.argv(call.argv),
        package_dir=package.folder,
        job_dir=attempt.folder,
        stdin=call.stdin,
        environment={
            **manifest_environment(package.manifest),
            **attempt.runtime.environment,
            **call.environment,
            **attempt.secrets,
        },
        mounts=attempt.runtime.mounts,
        channel_bytes=_CHANNEL_BYTES if call.channel else 0,
        network=_allowed_hosts(attempt),
        resolve=resolve_host,
        cwd=WORK_DIR,
        limits=attempt.sandbox_limits,
        scratch=attempt.scratch,
    )


def manifest_environment(manifest: Manifest) -> dict[str, str]:
    """The manifest's variables, without those with reserved names, which older versions may still set."""
    return {name: text for name, text in manifest.security.environment.items() if not is_reserved(name)}


def _allowed_hosts(attempt: AttemptContext) -> tuple[str, ...] | None:
    """The hosts that the run can reach.

    Without network access, () if the package may try to connect, so that a proxy records the attempts. For
    other packages without network access, None, so that no proxy starts.
    """
    security = attempt.package.manifest.security
    if security.network == "allowlist":
        return security.network_allowlist
    return () if attempt.runtime.mounts or can_try_network(attempt.package) else None
