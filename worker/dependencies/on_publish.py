from registry.models import Version
from registry.packages.package import Package
from worker.dependencies import queue
from worker.dependencies.needs import needs_of


def enqueue_builds(version: Version, package: Package) -> None:
    """Enqueues a build for each need of the package; workers start after the transaction commits."""
    for need in needs_of(package.files, package.manifest.runtime):
        queue.enqueue(version, need)
