"""Typed hooks. A lower package declares a hook; higher packages connect receivers when their app is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, TypeVar, get_args

if TYPE_CHECKING:
    from registry.models import Version
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

DependencyState = Literal["none", "building", "ready", "failed"]
DEPENDENCY_STATES: tuple[str, ...] = get_args(DependencyState)
dependency_state_hook: Hook[[Version], DependencyState] = Hook()


def dependency_state(version: Version) -> DependencyState:
    """The build state of the version's dependencies: the first receiver result that is not ``none``.
    ``none`` if the version needs no build.
    """
    return next((state for state in dependency_state_hook.send(version) if state != "none"), "none")
