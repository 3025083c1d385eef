"""Typed hooks. A lower package declares a hook; higher packages connect receivers when their app is ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, TypeVar, get_args

if TYPE_CHECKING:
    from registry.models import Report, Version
    from registry.packages.package import Package

P = ParamSpec("P")
R = TypeVar("R")


class Hook(Generic[P, R]):
    """Calls its receivers in order. An exception in a receiver propagates to the sender and rolls back the
    sender's transaction.
    """

    def __init__(self) -> None:
        self.receivers: list[Callable[P, R]] = []

    def connect(self, receiver: Callable[P, R]) -> None:
        """Adds a receiver unless it is already connected. Called from an app's ``ready``."""
        if receiver not in self.receivers:
            self.receivers.append(receiver)

    def send(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Calls all receivers and returns their results."""
        return [receiver(*args, **kwargs) for receiver in self.receivers]


version_published: Hook[[Version, Package], None] = Hook()
additions_changed: Hook[[Version], None] = Hook()
version_held: Hook[[Version], None] = Hook()
report_filed: Hook[[Report], None] = Hook()
chosen_runtime_hook: Hook[[Version], str] = Hook()

DependencyState = Literal["none", "building", "ready", "failed"]
DEPENDENCY_STATES: tuple[str, ...] = get_args(DependencyState)
dependency_state_hook: Hook[[Version], DependencyState] = Hook()


def dependency_state(version: Version) -> DependencyState:
    """The build state of the version's dependencies: the first receiver result that is not ``none``.
    ``none`` if the version needs no build.
    """
    return next((state for state in dependency_state_hook.send(version) if state != "none"), "none")


MODULE_LOAD_STATES = ("waiting", "passed", "failed", "skipped")
SKIP_REASONS = ("", "no_sandbox", "network", "limit", "dependencies", "error")


@dataclass(frozen=True)
class ModuleLoadResult:
    """Whether runs can load an ``execute`` module. If not, ``reason`` is one of SKIP_REASONS."""

    path: str
    state: str
    reason: str


module_loads_hook: Hook[[Version], tuple[ModuleLoadResult, ...]] = Hook()


def module_loads(version: Version) -> tuple[ModuleLoadResult, ...]:
    """For each ``execute`` module of the version, whether runs can load it."""
    return tuple(row for rows in module_loads_hook.send(version) for row in rows)


def chosen_runtime(version: Version) -> str:
    """The runtime that a maintainer chose for the version, or ""."""
    return next((name for name in chosen_runtime_hook.send(version) if name), "")
