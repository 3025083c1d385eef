"""The states of a version's modules, for pages, the API and commands."""

from __future__ import annotations

from django.db.models import QuerySet

from registry.core.hooks import ModuleLoadResult
from registry.core.sql import Reads, prepared, reader
from registry.models import Version
from worker.models import ModuleLoad


@reader
def module_loads(version: Version) -> Reads[tuple[ModuleLoadResult, ...]]:
    """The modules that runs of the version call, sorted by path; () if it has no ``execute`` modules."""
    yield (rows := _loads_of(version.pk))
    return tuple(ModuleLoadResult(row.path, row.state, row.reason) for row in rows)


@prepared
def _loads_of(version: int) -> QuerySet[ModuleLoad]:
    return ModuleLoad.objects.filter(version_id=version).order_by("path")
