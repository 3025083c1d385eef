"""Runs a package for real: prepared, sandboxed, interpreted, without database or queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from registry.packages.package import Package
from registry.packages.problems import Refusal
from registry.packages.schemas.validate import validate, with_defaults
from tests.checks import not_none
from worker.files.inputs import WORK_DIR
from worker.files.working_folder import top_folders
from worker.protocols.call import Call, Outcome, Request
from worker.protocols.errors import MISSING_PARAM
from worker.protocols.formats.abp import input_schema, output_schema, resolve_tool
from worker.protocols.outcome import interpret
from worker.protocols.prepare import prepare
from worker.protocols.prompts.prompt_call import argument_names, parse_arguments
from worker.protocols.prompts.render import render
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job, SandboxResult
from worker.sandbox.tiers import available

OUTPUT = "/job/output"


@dataclass(frozen=True)
class Ran:
    outcome: Outcome
    ended: SandboxResult
    artifacts: Mapping[str, bytes]


def run(package: Package, request: Request, at: Path, limits: Limits | None = None) -> Ran:
    """One call as ``worker.executors.conductor`` makes it; ``at`` is an empty folder of this call's own."""
    request = _checked(package, resolve_tool(package.manifest, request))
    call = prepare(
        package.paths,
        package.manifest,
        package.profile,
        request,
        read=lambda path: not_none(package.file(path)).data,
    )
    if call.protocol in ("prompt", "fork"):
        return Ran(_prompt(package, call), SandboxResult("exited", 0, None, b"", b"", b"", 0.0, "", {}), {})
    folders = _folders(package, at)
    job = Job(
        argv=call.argv,
        package_dir=folders / "skill",
        job_dir=folders / "job",
        stdin=call.stdin,
        environment={**package.manifest.security.environment, **call.environment},
        cwd=WORK_DIR,
        channel_bytes=10 << 20 if call.channel else 0,
        limits=limits or Limits(timeout_s=30),
    )
    ended = available.run(job)
    outcome = interpret(call, ended, output_schema=output_schema(package.manifest, call.request))
    left = folders / "job" / "output"
    artifacts = {str(p.relative_to(left)): p.read_bytes() for p in sorted(left.rglob("*")) if p.is_file()}
    return Ran(outcome, ended, artifacts)


def _prompt(package: Package, call: Call) -> Outcome:
    """What its arguments make of it; commands and agent loops want a worker."""
    given = parse_arguments(call.request.inputs, package.manifest)
    names = argument_names(package.manifest)
    filled = render(package.body, arguments=given.line, names=names, values=given.values, words=given.words)
    return Outcome(success=True, output=filled.text, metadata={"protocol": call.protocol})


def _checked(package: Package, request: Request) -> Request:
    schema = input_schema(package.manifest, request)
    if schema:
        request = replace(request, inputs=with_defaults(schema, request.inputs))
        if problems := validate(schema, dict(request.inputs), missing=MISSING_PARAM):
            raise Refusal(*problems)
    if "output_dir" in request.inputs:
        request = replace(request, inputs={**request.inputs, "output_dir": OUTPUT})
    return request


def _folders(package: Package, at: Path) -> Path:
    for file in package.files:
        path = at / "skill" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    for name in ("work", "output"):
        (at / "job" / name).mkdir(parents=True)
    for name in top_folders(file.path for file in package.files):
        (at / "job" / "work" / name).symlink_to(f"/skill/{name}")
    return at
