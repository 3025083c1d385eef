"""The values that an executor receives and returns."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from worker.attempts.monitor import AttemptMonitor
from worker.attempts.unpacking import UnpackedPackage
from worker.core.masking import Mask
from worker.files import artifacts
from worker.protocols.call import Call, Cause, Outcome
from worker.queue.claims import Claim
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch
from worker.sandbox.policy import SandboxResult
from worker.sandbox.runtimes import with_module_cache


@dataclass(frozen=True)
class RuntimeEnvironment:
    """Folders mounted next to the package, such as dependencies, and environment variables for them."""

    mounts: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    deno_config: str | None = None  # None: no Deno modules; otherwise the path of deno.json, or ""

    def argv(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        return argv if self.deno_config is None else with_module_cache(argv, self.deno_config)


@dataclass(frozen=True)
class AttemptContext:
    """One attempt: its claim on the run, its package, and its job folder with ``input/`` and ``output/``.

    The script's files are in ``scratch`` once that is mounted, otherwise in ``folder``.
    """

    claim: Claim
    monitor: AttemptMonitor
    package: UnpackedPackage
    folder: Path
    scratch: Scratch | None = None
    runtime: RuntimeEnvironment = field(default_factory=RuntimeEnvironment)
    # Values by variable name, decrypted for this attempt.
    secrets: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def mask(self) -> Mask:
        return Mask(self.secrets.values())

    @property
    def written_folder(self) -> Path:
        """The job folder with the script's files: in the mounted scratch space, otherwise ``folder``."""
        return self.scratch.job_folder if self.scratch else self.folder

    @property
    def limits(self) -> Limits:
        return Limits(**self.claim.limits)

    @property
    def sandbox_limits(self) -> Limits:
        return sandbox_limits(self.limits, self.claim.files)


def sandbox_limits(limits: Limits, files: Iterable[Mapping[str, Any]]) -> Limits:
    """The run's limits, increased by the size and number of its input files, which are copied into the
    sandbox.
    """
    sizes = {file["path"]: file["size"] for file in files}
    return replace(
        limits,
        disk_mb=limits.disk_mb + math.ceil(sum(sizes.values()) / (1 << 20)),
        files=limits.files + len(sizes),
    )


@dataclass(frozen=True)
class AttemptResult:
    """The result of an attempt before it is recorded; ``sandbox_result`` is None if no sandbox started."""

    outcome: Outcome
    sandbox_result: SandboxResult | None = None
    collection: artifacts.CollectedArtifacts = field(default_factory=artifacts.CollectedArtifacts)
    cause: Cause | None = None  # None unless the attempt failed
    interpreter: str = ""  # version of the script's interpreter, such as "python 3.11.7"


Executor = Callable[[AttemptContext, Call], AttemptResult]
