"""What an attempt sees of what was made for it: read-only folders and the variables that lead to them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from registry.models import Version
from registry.packages.package import Manifest
from registry.packages.problems import Refused, refuse
from worker.dependencies import making, queue
from worker.dependencies.keeping import folder_of
from worker.dependencies.needs import needs_of_opened
from worker.dependencies.registries import JSR, NPM
from worker.models import Preparation, PreparationKind, PreparationState
from worker.sandbox.policy import Tick
from worker.sandbox.runtimes import PATH
from worker.unpacking import Opened
from worker.ways.values import Placed

_USED_AGAIN = timedelta(hours=1)  # how often a use is written down
_LOOK_S = 0.5
_PLACES = {
    PreparationKind.PYTHON.value: "/deps",
    PreparationKind.NODE.value: "/node_modules",
    PreparationKind.DENO.value: "/deno",
}
_VARIABLES = {
    "/deps": {"PYTHONPATH": "/deps"},
    "/node_modules": {"NODE_PATH": "/node_modules"},
    "/deno": {"DENO_DIR": "/deno", "DENO_NO_PACKAGE_JSON": "1", "NPM_CONFIG_REGISTRY": NPM, "JSR_URL": JSR},
}


class NotYet(Exception):
    """Somebody else is making what this run needs."""


def needs_anything(package: Opened) -> bool:
    return bool(package.manifest.runtime or needs_of_opened(package))


def place(package: Opened, digest: str, *, tick: Tick, wait: bool) -> Placed:
    """Everything that runs of this package get, made here where nobody has begun to.

    While another makes it: waits, or says NotYet. Refuses as the preparation was refused.
    """
    mounts, config = dict(_runtime(package.manifest)), None
    for need in needs_of_opened(package):
        version = Version.objects.filter(digest=digest).order_by("pk").first()
        if version is None:
            raise refuse("PACKAGE_MISSING")
        mounts[_PLACES[need.kind]] = _folder(queue.ask(version, need).key, tick, wait=wait)
        if need.kind == PreparationKind.DENO:
            config = str(json.loads(need.asked)["config"])
    return Placed(mounts, _environment(mounts), config)


def _folder(key: str, tick: Tick, *, wait: bool) -> Path:
    while True:
        row = Preparation.objects.get(key=key)
        if row.state == PreparationState.FAILED:
            raise queue.refusal_of(row)
        if row.state == PreparationState.READY:
            if folder := _unpacked(row, tick):
                return folder
        elif hold := queue.claim(key, timezone.now()):
            making.make(hold, tick)
        elif not wait:
            raise NotYet
        elif tick():
            raise refuse("CANCELLED")
        else:
            time.sleep(_LOOK_S)


def _unpacked(row: Preparation, tick: Tick) -> Path | None:
    """Its folder here; None where the archive is gone, which is then made again."""
    try:
        folder = folder_of(row.digest, tick=tick)
    except Refused as no:
        if no.code != "BLOB_MISSING":
            raise
        queue.forget_archive(row)
        return None
    now = timezone.now()
    Preparation.objects.filter(pk=row.pk, last_used_at__lt=now - _USED_AGAIN).update(last_used_at=now)
    return folder


def _runtime(manifest: Manifest) -> Mapping[str, Path]:
    """The folder that the administrator named, of what the skill chose."""
    name, known = manifest.runtime, settings.SKILLQUAY_RUNTIMES
    if not name:
        return {}
    if name not in known or not Path(known[name]).is_dir():
        raise refuse("RUNTIME_UNKNOWN", runtime=name, names=", ".join(sorted(known)) or "-")
    return {"/runtime": Path(known[name])}


def _environment(mounts: Mapping[str, Path]) -> Mapping[str, str]:
    found = {
        name: value for place in _VARIABLES if place in mounts for name, value in _VARIABLES[place].items()
    }
    if "/runtime" in mounts:
        found["PATH"] = f"{PATH}:/runtime/bin:/runtime/usr/bin"
    return found
