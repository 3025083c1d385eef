"""Presents whether runs can load the modules of a version."""

from dataclasses import dataclass

from registry.core.hooks import ModuleLoadResult
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Version
from worker.module_loads.results import module_loads


@dataclass(frozen=True)
class LoadedModules:
    rows: tuple[ModuleLoadResult, ...]

    @property
    def is_live(self) -> bool:
        return any(row.state == "waiting" for row in self.rows)


@reader
def loaded_modules(version: Version, _actor: Actor) -> Reads[LoadedModules]:
    return LoadedModules((yield from module_loads.reads(version)))
