"""A script in the sandbox: its job made, its output watched, its answer read, its files collected."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from registry.outbound.addresses import addresses_of
from registry.packages.package import Manifest
from registry.packages.variables import is_taken
from worker import children, protocols, sandbox
from worker.masking import MaskedOutput
from worker.protocols.call import Call
from worker.protocols.helping import helper
from worker.sandbox.policy import Ended, Job, StopReason, Tick
from worker.sandbox.site import Backend, Site
from worker.supervision import Supervision
from worker.ways.collecting import collected
from worker.ways.values import Attempted, Result

_CHANNEL_BYTES = 10_485_760


def carry_out(attempted: Attempted, call: Call) -> Result:
    """Runs the script to its end and keeps what it left, unless another worker has the run by now."""
    watch = attempted.watch
    with watch.step("execute"), children.opened(attempted) as door:
        job = job_of(attempted, call)
        if door:
            job = replace(job, door=door.serve, environment={**job.environment, **helper(attempted.folder)})
        ended = start(attempted, job, _tick(watch, door))
    _note(watch, door)
    fits = protocols.output_schema(attempted.package.manifest, call.request)
    outcome = protocols.interpret(call, ended, output_schema=fits)
    if not outcome.success:
        watch.mark("execute", outcome.failure_code, outcome.message)
    if watch.lost or ended.ending == "lease_lost":
        return Result(outcome, ended)
    return collected(attempted, outcome, ended)


def start(attempted: Attempted, job: Job, tick: Tick) -> Ended:
    """Runs a job of the attempt to its end; its secrets stand in nothing that is kept or read of it."""
    said = MaskedOutput(attempted.mask, attempted.watch.on_output)
    try:
        return attempted.mask.ended(sandbox.run(job, on_output=said, tick=tick, site=site()))
    finally:
        said.close()


def _tick(watch: Supervision, door: children.Door | None) -> Tick:
    """What started other runs is seen while it goes on; noted here, in the thread that writes."""

    def tick() -> StopReason | None:
        _note(watch, door)
        return watch.tick()

    return tick


def _note(watch: Supervision, door: children.Door | None) -> None:
    for step in door.taken() if door else ():
        watch.note(step)


def job_of(attempted: Attempted, call: Call) -> Job:
    """The sandbox's order for a call, with everything that the package and the site allow it."""
    package = attempted.package
    return Job(
        argv=attempted.placed.argv(call.argv),
        package_dir=package.folder,
        job_dir=attempted.folder,
        stdin=call.stdin,
        environment={
            **_chosen(package.manifest),
            **attempted.placed.environment,
            **call.environment,
            **attempted.secrets,
        },
        mounts=attempted.placed.mounts,
        channel_bytes=_CHANNEL_BYTES if call.channel else 0,
        network=package.manifest.security.network_allowlist if _has_network(package.manifest) else None,
        resolve=addresses_of,
        limits=attempted.limits,
    )


def _chosen(manifest: Manifest) -> dict[str, str]:
    """What the package sets; a version that was published before a name was taken is held to that as well."""
    return {name: text for name, text in manifest.security.environment.items() if not is_taken(name)}


def _has_network(manifest: Manifest) -> bool:
    return manifest.security.network == "allowlist"


def site() -> Site:
    """The administrator's decisions about sandboxes."""
    choice: Any = settings.SKILLQUAY_SANDBOX  # both are checked when settings are read
    minimum: Any = settings.SKILLQUAY_SANDBOX_MINIMUM
    return Site(choice=choice, minimum=minimum, backend=_backend(settings.SKILLQUAY_SANDBOX_BACKEND))


@cache
def _backend(path: str) -> Backend | None:
    found: Backend | None = import_string(path) if path else None
    return found
