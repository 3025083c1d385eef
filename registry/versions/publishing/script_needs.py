"""Reads the needs of a package's scripts, and stores them with the version."""

from __future__ import annotations

from collections.abc import Iterable

from registry.core.hooks import Hook
from registry.models import EntryNeeds, Version
from registry.packages.needs import ScriptNeeds, read_needs, to_document
from registry.packages.package import Package

# The paths of the scripts that can run.
runnable_paths: Hook[[Package], Iterable[str]] = Hook()


def read_script_needs(package: Package) -> tuple[ScriptNeeds, ...]:
    """The needs of each script that can run. Never raises."""
    paths = [path for found in runnable_paths.send(package) for path in found]
    return read_needs(package.files, paths)


def store_script_needs(version: Version, scripts: Iterable[ScriptNeeds]) -> None:
    EntryNeeds.objects.bulk_create(
        EntryNeeds(version=version, path=each.path, document=to_document(each)) for each in scripts
    )
