"""The states of a version's modules, for pages, the API and commands."""

from __future__ import annotations

from registry.core.hooks import ModuleLoadResult
from registry.core.sql import PreparedQuery
from registry.models import Version
from worker.models import ModuleLoad

_LOADS = PreparedQuery(
    lambda version: (
        ModuleLoad.objects.filter(version_id=version).order_by("path").values_list("path", "state", "reason")
    ),
    int,
)


def module_loads(version: Version) -> tuple[ModuleLoadResult, ...]:
    """The modules that runs of the version call, sorted by path; () if it has no ``execute`` modules."""
    return tuple(ModuleLoadResult(*row) for row in _LOADS.all(version.pk))
