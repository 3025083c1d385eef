"""Combines the requirements of a package with the pinned libraries of its runtime, to resolve both
together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from worker.dependencies.errors import DEPENDENCIES_CHANGED
from worker.dependencies.runtimes.lists import Pin, RuntimeList


@dataclass(frozen=True)
class PythonPlan:
    """The lines of the requirements and constraints files, and the pins that the result must match."""

    requirements: Sequence[str]
    constraints: Sequence[str] = ()
    pins: Mapping[str, Pin] = field(default_factory=dict)

    def check(self, name: str, digest: str) -> None:
        """Raises DEPENDENCIES_CHANGED if the library is pinned and the pin does not list the file's
        ``digest``.
        """
        pin = self.pins.get(name)
        if pin and digest.removeprefix("sha256:") not in pin.hashes:
            raise DEPENDENCIES_CHANGED.refusal(reason=f"{name} {pin.version}")


def plan_python(own: Sequence[str], runtime: RuntimeList | None) -> PythonPlan:
    """The plan for the package's ``own`` requirements and its runtime.

    A library that the package names itself has the package's version instead of the runtime's. pip checks
    hashes for all libraries or for none, so the pins are constraints if a requirement of the package has no
    hash.
    """
    if runtime is None:
        return PythonPlan(own)
    named = {canonicalize_name(Requirement(line.partition(" --hash=")[0]).name) for line in own}
    pins = {name: pin for name, pin in runtime.pins.items() if name not in named}
    if all(" --hash=" in line for line in own):
        return PythonPlan([*own, *(pin.line for pin in pins.values())], pins=pins)
    wanted = [name for name in runtime.libraries if canonicalize_name(name) in pins]
    constraints = [f"{pin.name}=={pin.version}" for pin in pins.values()]
    return PythonPlan([*own, *wanted], constraints, pins)
