"""One attempt at a dependency build: its folder, its installer, and the refusal if it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.http_client import errors as http_errors
from registry.http_client.addresses import resolve_host
from registry.packages.problems import Refusal
from worker.core.errors import CANCELLED
from worker.core.sandbox_settings import sandbox_settings
from worker.dependencies import errors
from worker.dependencies.installers.package_index import Source
from worker.dependencies.queue import BuildLease
from worker.sandbox import errors as sandbox_errors
from worker.sandbox.egress.proxy import PORT
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import CheckStop, HostAccess, HttpHandler, Job, SandboxResult
from worker.sandbox.tiers import available

INDEX = f"http://127.0.0.1:{PORT}"
_CHECKSUM_ERRORS = (
    *("DO NOT MATCH THE HASHES", "EINTEGRITY"),
    *("checksum did not match", "Integrity check failed", "lockfile is out of date"),
)
_DISK_FULL_ERRORS = ("No space left on device", "ENOSPC")
_TOO_LARGE_ERRORS = ("File too large", "File size limit exceeded", "EFBIG")
_OFFLINE_CODES = (
    http_errors.OUTBOUND_FAILED.name,
    http_errors.OUTBOUND_TIMEOUT.name,
    http_errors.OUTBOUND_REFUSED.name,
    http_errors.OUTBOUND_STATUS.name,
    http_errors.OUTBOUND_ADDRESS.name,
)
_UNREACHABLE_REASONS = (
    sandbox_errors.NETWORK_NAME_UNKNOWN.name,
    sandbox_errors.NETWORK_UNREACHABLE.name,
    sandbox_errors.NETWORK_ADDRESS_REFUSED.name,
)


@dataclass(frozen=True)
class Build:
    """One build attempt in its own folder.

    ``sources`` are the registries that the build reads, ``hosts`` those that the sandbox may connect to.
    """

    lease: BuildLease
    folder: Path
    sources: tuple[Source, ...] = ()
    check_stop: CheckStop = field(default=lambda: None)
    hosts: tuple[str, ...] = ()

    @property
    def asked(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = json.loads(self.lease.job.spec)
        return document

    def create_job_folder(self, name: str) -> Path:
        """Creates a job folder with ``output`` and ``tmp``; returns its path.

        The folder ``order`` next to it holds the files that the sandbox sees at ``/skill``.
        """
        path = self.folder / name
        (path / "output").mkdir(mode=0o755, parents=True)
        (path / "tmp").mkdir(mode=0o755)  # on disk, because the sandbox's own /tmp is in memory
        return path

    def add_file(self, name: str, content: str | bytes) -> None:
        place = self.folder / "order" / name
        for folder in reversed(place.relative_to(self.folder).parents[:-1]):
            (self.folder / folder).mkdir(mode=0o755, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    def run_installer(
        self,
        argv: tuple[str, ...],
        job: Path,
        served: HttpHandler | None,
        mounts: Mapping[str, Path],
        **env: str,
    ) -> SandboxResult:
        """Runs an installer in the sandbox and logs its output; raises Refusal with the cause if it fails.

        ``served`` answers its HTTP requests; None means no network.
        """
        order = Job(
            argv,
            self.folder / "order",
            job,
            environment={"TMPDIR": "/job/tmp", **env},
            network=None if served is None else self.hosts,
            resolve=resolve_host,
            http_handler=served,
            mounts=mounts,
            limits=_limits(),
        )
        result = available.run(
            order, on_output=self._append_log, check_stop=self.check_stop, site=sandbox_settings()
        )
        if result.ending != "exited" or result.exit_code != 0:
            raise self._refusal(result)
        return result

    def _append_log(self, _stream: str, data: bytes) -> None:
        self.lease.append_log(data.decode("utf-8", "replace").replace("\0", ""))

    def _refusal(self, result: SandboxResult) -> Refusal:
        output = (result.stdout + result.stderr).decode("utf-8", "replace")
        failed_sources = [each for each in self.sources if each.error]
        if result.ending in ("cancelled", "lease_lost"):
            return CANCELLED.refusal()
        if result.ending == "timed_out":
            return errors.DEPENDENCIES_SLOW.refusal(limit=settings.SKILLQUAY_DEPENDENCIES_SECONDS)
        too_large = any(
            each.error and each.error.code == http_errors.OUTBOUND_TOO_LARGE.name for each in failed_sources
        )
        too_much = any(access.code == sandbox_errors.NETWORK_TOO_MUCH.name for access in result.network)
        if (
            result.ending == "disk_limit"
            or too_large
            or too_much
            or any(sign in output for sign in _TOO_LARGE_ERRORS)
        ):
            return errors.DEPENDENCIES_TOO_LARGE.refusal(limit=settings.SKILLQUAY_DEPENDENCIES_MB)
        if any(sign in output for sign in _DISK_FULL_ERRORS):
            return errors.DEPENDENCIES_DISK.refusal()
        if failed_sources and (offline := self._offline_refusal(failed_sources[0])):
            return offline
        if refused := [access for access in result.network if not access.allowed]:
            return self._host_refusal(refused[0])
        if any(sign in output for sign in _CHECKSUM_ERRORS):
            return errors.DEPENDENCIES_CHANGED.refusal(reason=_error_line(output))
        return errors.DEPENDENCIES_FAILED.refusal(
            reason=_error_line(output) or f"{result.ending} {result.exit_code}"
        )

    def _offline_refusal(self, source: Source) -> Refusal | None:
        error = source.error
        if error is None or error.code not in _OFFLINE_CODES:
            return error if error and error.code == errors.DEPENDENCIES_DISABLED.name else None
        params = error.problems[0].params  # this omits the URL of the index
        setting = (
            "SKILLQUAY_OUTBOUND_ALLOW"
            if error.code == http_errors.OUTBOUND_REFUSED.name
            else params.get("status", "")
        )
        reason = params.get("reason") or f"{error.code} {setting}".strip()
        return errors.DEPENDENCIES_OFFLINE.refusal(kind=source.kind, setting=source.setting, reason=reason)

    def _host_refusal(self, access: HostAccess) -> Refusal:
        if access.code in _UNREACHABLE_REASONS:
            reason = f"{access.code} {access.host}"
            return errors.DEPENDENCIES_OFFLINE.refusal(
                kind="https", setting="SKILLQUAY_DENO_HOSTS", reason=reason
            )
        return errors.DEPENDENCIES_HOST.refusal(host=f"{access.host}:{access.port}".removesuffix(":443"))


def _limits() -> Limits:
    limits = Limits(
        timeout_s=settings.SKILLQUAY_DEPENDENCIES_SECONDS,
        memory_mb=max(1024, settings.SKILLQUAY_MAX_RUN_MEMORY_MB),
        disk_mb=2 * settings.SKILLQUAY_DEPENDENCIES_MB,
        files=2 * settings.SKILLQUAY_DEPENDENCIES_FILES,
    )
    return replace(limits, descriptors=1024, connections=256, network_bytes=limits.disk_mb << 20)


def _error_line(output: str) -> str:
    """The line of the installer's output that explains the failure, at most 300 characters.

    For npm this is the first error line without a field name; for pip, the last error line.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    of_npm = [line for line in lines if re.match(r"npm error (?!code |errno |syscall |path )\S", line)]
    of_pip = [line for line in lines if line.upper().startswith("ERROR")]
    lines_named = of_npm[:1] or of_pip[-1:] or lines[-1:] or [""]
    return re.sub(r"^(npm )?ERROR:? ", "", lines_named[0], flags=re.IGNORECASE)[:300]
