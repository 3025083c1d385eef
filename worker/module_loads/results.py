"""The states of a version's modules, for pages, the API and commands."""

from __future__ import annotations

from registry.core.hooks import ModuleLoadResult
from registry.core.sql import Reads, reader
from registry.models import Version
from worker.models import ModuleLoad


@reader
def module_loads(version: Version) -> Reads[tuple[ModuleLoadResult, ...]]:
    """The modules that runs of the version call, sorted by path; () if it has no ``execute`` modules."""
    yield (rows := ModuleLoad.objects.filter(version=version).order_by("path"))
    return tuple(ModuleLoadResult(row.path, row.state, row.reason) for row in rows)
