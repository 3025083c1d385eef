"""Presents whether runs can load the modules of a version."""

from dataclasses import dataclass

from registry.core.hooks import ModuleLoadResult, module_loads
from registry.identity.actors import Actor
from registry.models import Version


@dataclass(frozen=True)
class LoadedModules:
    rows: tuple[ModuleLoadResult, ...]

    @property
    def is_live(self) -> bool:
        return any(row.state == "waiting" for row in self.rows)


def loaded_modules(version: Version, _actor: Actor) -> LoadedModules:
    return LoadedModules(module_loads(version))
