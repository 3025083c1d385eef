"""From a publication to what is to be made for it."""

from __future__ import annotations

from registry.models import Version
from registry.packages.package import Package
from worker.dependencies import queue
from worker.dependencies.needs import needs_of


def follow_publication(version: Version, package: Package) -> None:
    """Asks for what the package depends on; a worker makes it as soon as the version is there."""
    for need in needs_of(package.files):
        queue.ask(version, need)
