"""What a way of carrying out an attempt is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from worker import artifacts
from worker.masking import Mask
from worker.protocols.call import Call, Outcome
from worker.sandbox.policy import Ended, Limits
from worker.sandbox.runtimes import with_modules
from worker.states import Claim
from worker.supervision import Supervision
from worker.unpacking import Opened


@dataclass(frozen=True)
class Placed:
    """Read-only folders beside the package, such as its dependencies, and the variables that lead there."""

    mounts: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    deno_config: str | None = None  # where modules of deno are: the path of deno.json in the package, or ""

    def argv(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        return argv if self.deno_config is None else with_modules(argv, self.deno_config)


@dataclass(frozen=True)
class Attempted:
    """One attempt: the claimed row, its package, its private folder with input/ and output/."""

    claim: Claim
    watch: Supervision
    package: Opened
    folder: Path
    placed: Placed = field(default_factory=Placed)
    secrets: Mapping[str, str] = field(default_factory=dict)  # its environment's, opened for this attempt

    @cached_property
    def mask(self) -> Mask:
        return Mask(self.secrets.values())

    @property
    def limits(self) -> Limits:
        return Limits(**self.claim.limits)


@dataclass(frozen=True)
class Result:
    """What an attempt came to before it is written."""

    outcome: Outcome
    ended: Ended | None = None
    collection: artifacts.Collection = field(default_factory=artifacts.Collection)


Way = Callable[[Attempted, Call], Result]
