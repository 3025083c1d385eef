"""One attempt at one preparation: its folder, its installers, and what became of one that failed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.outbound.addresses import addresses_of
from registry.packages.problems import Refused, refuse
from worker import sandbox
from worker.dependencies import codes as codes
from worker.dependencies.index import Source
from worker.dependencies.queue import Hold
from worker.sandbox.egress import PORT
from worker.sandbox.policy import Dial, Ended, Job, Limits, Served, Tick
from worker.ways.script import site

INDEX = f"http://127.0.0.1:{PORT}"
_CHANGED = (
    *("DO NOT MATCH THE HASHES", "EINTEGRITY"),
    *("checksum did not match", "Integrity check failed", "lockfile is out of date"),
)
_FULL = ("No space left on device", "ENOSPC")
_TOO_LARGE = ("File too large", "File size limit exceeded", "EFBIG")
_UNREACHED = (
    "OUTBOUND_FAILED",
    "OUTBOUND_TIMEOUT",
    "OUTBOUND_REFUSED",
    "OUTBOUND_STATUS",
    "OUTBOUND_ADDRESS",
)
_AWAY = ("NETWORK_NAME_UNKNOWN", "NETWORK_UNREACHABLE", "NETWORK_ADDRESS_REFUSED")


@dataclass(frozen=True)
class Build:
    """One attempt at one preparation, in a folder of its own; ``hosts`` are those it may speak to itself."""

    hold: Hold
    folder: Path
    sources: tuple[Source, ...] = ()
    tick: Tick = field(default=lambda: None)
    hosts: tuple[str, ...] = ()

    @property
    def asked(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = json.loads(self.hold.row.asked)
        return document

    def job(self, name: str) -> Path:
        """A fresh job folder; ``order`` beside it holds what the sandbox sees at /skill."""
        path = self.folder / name
        (path / "output").mkdir(mode=0o755, parents=True)
        (path / "tmp").mkdir(mode=0o755)  # on the disk: the sandbox's own /tmp is memory
        return path

    def order(self, name: str, content: str | bytes) -> None:
        place = self.folder / "order" / name
        for folder in reversed(place.relative_to(self.folder).parents[:-1]):
            (self.folder / folder).mkdir(mode=0o755, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    def start(
        self,
        argv: tuple[str, ...],
        job: Path,
        served: Served | None,
        mounts: Mapping[str, Path],
        **env: str,
    ) -> Ended:
        """One start of an installer, to its good end; what it says is the preparation's log."""
        order = Job(
            argv,
            self.folder / "order",
            job,
            environment={"TMPDIR": "/job/tmp", **env},
            network=None if served is None else self.hosts,
            resolve=addresses_of,
            served=served,
            mounts=mounts,
            limits=_limits(),
        )
        ended = sandbox.run(order, on_output=self._listen, tick=self.tick, site=site())
        if ended.ending != "exited" or ended.exit_code != 0:
            raise self._refusal(ended)
        return ended

    def _listen(self, _stream: str, data: bytes) -> None:
        self.hold.say(data.decode("utf-8", "replace").replace("\0", ""))

    def _refusal(self, ended: Ended) -> Refused:
        said = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        troubles = [each for each in self.sources if each.trouble]
        if ended.ending in ("cancelled", "lease_lost"):
            return refuse("CANCELLED")
        if ended.ending == "timed_out":
            return refuse("DEPENDENCIES_SLOW", limit=settings.SKILLQUAY_DEPENDENCIES_SECONDS)
        too_large = any(each.trouble and each.trouble.code == "OUTBOUND_TOO_LARGE" for each in troubles)
        too_much = any(dial.why == "NETWORK_TOO_MUCH" for dial in ended.network)
        if ended.ending == "disk_limit" or too_large or too_much or any(sign in said for sign in _TOO_LARGE):
            return refuse("DEPENDENCIES_TOO_LARGE", limit=settings.SKILLQUAY_DEPENDENCIES_MB)
        if any(sign in said for sign in _FULL):
            return refuse("DEPENDENCIES_DISK")
        if troubles and (no := self._offline(troubles[0])):
            return no
        if refused := [dial for dial in ended.network if not dial.allowed]:
            return self._elsewhere(refused[0])
        if any(sign in said for sign in _CHANGED):
            return refuse("DEPENDENCIES_CHANGED", reason=_last(said))
        return refuse("DEPENDENCIES_FAILED", reason=_last(said) or f"{ended.ending} {ended.exit_code}")

    def _offline(self, source: Source) -> Refused | None:
        trouble = source.trouble
        if trouble is None or trouble.code not in _UNREACHED:
            return trouble if trouble and trouble.code == "DEPENDENCIES_OFF" else None
        told = trouble.problems[0].params  # but for the address of the index
        setting = "SKILLQUAY_OUTBOUND_ALLOW" if trouble.code == "OUTBOUND_REFUSED" else told.get("status", "")
        reason = told.get("reason") or f"{trouble.code} {setting}".strip()
        return refuse("DEPENDENCIES_OFFLINE", kind=source.kind, setting=source.setting, reason=reason)

    def _elsewhere(self, dial: Dial) -> Refused:
        """Modules of an address that the site does not name, or that is not there."""
        if dial.why in _AWAY:
            reason = f"{dial.why} {dial.host}"
            return refuse("DEPENDENCIES_OFFLINE", kind="https", setting="SKILLQUAY_DENO_HOSTS", reason=reason)
        return refuse("DEPENDENCIES_HOST", host=f"{dial.host}:{dial.port}".removesuffix(":443"))


def _limits() -> Limits:
    limits = Limits(
        timeout_s=settings.SKILLQUAY_DEPENDENCIES_SECONDS,
        memory_mb=max(1024, settings.SKILLQUAY_RUN_MEMORY_MB),
        disk_mb=2 * settings.SKILLQUAY_DEPENDENCIES_MB,
        files=2 * settings.SKILLQUAY_DEPENDENCIES_FILES,
    )
    return replace(limits, descriptors=1024, connections=256, network_bytes=limits.disk_mb << 20)


def _last(said: str) -> str:
    """What an installer named as the error, as one line; else the last thing that it said.

    npm explains itself after it, pip before.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    of_npm = [line for line in lines if re.match(r"npm error (?!code |errno |syscall |path )\S", line)]
    of_pip = [line for line in lines if line.upper().startswith("ERROR")]
    told = of_npm[:1] or of_pip[-1:] or lines[-1:] or [""]
    return re.sub(r"^(npm )?ERROR:? ", "", told[0], flags=re.IGNORECASE)[:300]
