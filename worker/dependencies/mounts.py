"""Provides an attempt's dependencies and runtime as read-only mounts and environment variables."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from registry.models import Version
from registry.packages.problems import Refusal
from registry.storage.errors import BLOB_MISSING
from worker.attempts import storage_gate
from worker.attempts.context import RuntimeEnvironment
from worker.attempts.errors import PACKAGE_MISSING
from worker.attempts.unpacking import UnpackedPackage
from worker.core.errors import CANCELLED
from worker.dependencies import build, queue
from worker.dependencies.errors import PREPARING, RUNTIME_UNKNOWN
from worker.dependencies.installers.deno_registries import JSR, NPM
from worker.dependencies.needs import Names, Need, needs_of_unpacked
from worker.dependencies.queue import BuildLease
from worker.dependencies.runtimes.lists import known_runtimes, runtime_list
from worker.dependencies.store import unpack_archive
from worker.models import DependencyBuild, DependencyBuildState, DependencyKind
from worker.queue.claims import Claim
from worker.sandbox.policy import CheckStop
from worker.sandbox.runtimes import PATH

_USE_INTERVAL = timedelta(hours=1)  # shortest time between two recorded uses
_POLL_S = 0.5
_MOUNT_POINTS = {
    DependencyKind.PYTHON.value: "/deps",
    DependencyKind.NODE.value: "/node_modules",
    DependencyKind.DENO.value: "/deno",
}
_VARIABLES = {
    "/deps": {"PYTHONPATH": "/deps"},
    "/node_modules": {"NODE_PATH": "/node_modules"},
    "/deno": {"DENO_DIR": "/deno", "DENO_NO_PACKAGE_JSON": "1", "NPM_CONFIG_REGISTRY": NPM, "JSR_URL": JSR},
}


class DependenciesPending(Exception):
    """Raised while another worker builds the run's dependencies; the run must wait or go back to the
    queue.
    """


def has_needs(package: UnpackedPackage, runtime: str, libraries: Names = frozenset()) -> bool:
    return bool(runtime or libraries or needs_of_unpacked(package))


def prepare_environment(
    package: UnpackedPackage,
    claim: Claim,
    runtime: str,
    libraries: Names = frozenset(),
    *,
    check_stop: CheckStop,
    wait: bool,
) -> RuntimeEnvironment:
    """Returns the environment for runs of this package with ``runtime`` and added ``libraries``.

    Builds dependencies that no other worker builds. While another worker builds: waits if ``wait``, otherwise
    raises DependenciesPending. Raises the refusal of a failed build, and CANCELLED if ``check_stop`` reports
    a reason. Raises PACKAGE_MISSING if no version has the digest, RUNTIME_UNKNOWN for a missing runtime, and
    refusals of the storage.
    """

    def built_folder(need: Need) -> Path:
        version = _version_of(claim)
        if version is None:
            raise PACKAGE_MISSING.refusal()
        return _folder(queue.enqueue(version, need).key, check_stop, wait=wait)

    return _with_folders(package, runtime, libraries, built_folder)


def ready_environment(
    package: UnpackedPackage, runtime: str, libraries: Names = frozenset()
) -> RuntimeEnvironment:
    """The environment from builds that are ready on this machine; starts no build.

    Raises the refusal of a failed build, and PREPARING for any other that is not ready.
    """
    return _with_folders(package, runtime, libraries, _ready_folder)


def _ready_folder(need: Need) -> Path:
    row = DependencyBuild.objects.filter(key=need.key).first()
    if row is None:
        raise PREPARING.refusal()
    folder = _open_archive(row, lambda: None) if row.state == DependencyBuildState.READY else None
    if folder is None:
        raise queue.refusal_of(row)
    return folder


def _with_folders(
    package: UnpackedPackage, runtime: str, libraries: Names, folder_of: Callable[[Need], Path]
) -> RuntimeEnvironment:
    mounts, config = dict(_runtime_mount(runtime)), None
    for need in needs_of_unpacked(package, runtime, libraries):
        mounts[_MOUNT_POINTS[need.kind]] = folder_of(need)
        if need.kind == DependencyKind.DENO:
            config = str(json.loads(need.spec)["config"])
    return RuntimeEnvironment(mounts, _environment(mounts), config)


def _version_of(claim: Claim) -> Version | None:
    """The version of the run; if it no longer exists, another version with the same package."""
    same = Version.objects.filter(digest=claim.digest).order_by("pk")
    return same.filter(skill=claim.skill_id, number=claim.version_number).first() or same.first()


def _folder(key: str, check_stop: CheckStop, *, wait: bool) -> Path:
    while True:
        row = DependencyBuild.objects.get(key=key)
        if row.state == DependencyBuildState.FAILED:
            raise queue.refusal_of(row)
        if row.state == DependencyBuildState.READY:
            if folder := _open_archive(row, check_stop):
                return folder
        elif lease := queue.claim(key, timezone.now()):
            _build(lease, check_stop)
        elif not wait:
            raise DependenciesPending
        elif check_stop():
            raise CANCELLED.refusal()
        else:
            time.sleep(_POLL_S)


def _build(lease: BuildLease, check_stop: CheckStop) -> None:
    """Runs the build. Raises CANCELLED only if the run must stop, not if the build was cancelled."""
    try:
        build.run_build(lease, check_stop)
    except Refusal as error:
        if error.code != CANCELLED.name or check_stop():
            raise


def _open_archive(row: DependencyBuild, check_stop: CheckStop) -> Path | None:
    """The unpacked folder on this machine; if the archive is missing, requeues the build and returns None.

    Records the use of the build at most once per hour.
    """
    try:
        folder = unpack_archive(row.digest, check_stop=check_stop)
    except Refusal as error:
        if error.code != BLOB_MISSING.name or storage_gate.close_if_lost(error):
            raise
        queue.requeue_missing_archive(row)
        return None
    now = timezone.now()
    DependencyBuild.objects.filter(pk=row.pk, last_used_at__lt=now - _USE_INTERVAL).update(last_used_at=now)
    return folder


def _runtime_mount(name: str) -> Mapping[str, Path]:
    """The mount of the runtime; {} if it needs no folder. Raises RUNTIME_UNKNOWN for an unknown name."""
    known = settings.SKILLQUAY_RUNTIMES
    if not name or runtime_list(name):
        return {}
    if name not in known or not Path(known[name]).is_dir():
        raise RUNTIME_UNKNOWN.refusal(runtime=name, names=tuple(known_runtimes()))
    return {"/runtime": Path(known[name])}


def _environment(mounts: Mapping[str, Path]) -> Mapping[str, str]:
    variables = {
        name: value for place in _VARIABLES if place in mounts for name, value in _VARIABLES[place].items()
    }
    if "/runtime" in mounts:
        variables["PATH"] = f"{PATH}:/runtime/bin:/runtime/usr/bin"
    return variables
