from itertools import islice

from django.db import transaction

from registry.models import Version
from registry.packages.package import Package
from registry.versions.publishing.later_problems import remove_problems
from worker.models import ModuleLoad, ModuleLoadState
from worker.module_loads.errors import LOADED_MODULE_MISSING, MODULE_LOAD_FAILED
from worker.protocols.entries import entries_of, execute_modules
from worker.queue.dispatch import wake_parser_reader

_MAX_MODULES = 20  # limit per version


def enqueue_loads(version: Version, package: Package) -> None:
    """Queues the loads of up to ``_MAX_MODULES`` modules that runs call, and wakes a worker when the
    transaction commits.
    """
    modules = execute_modules(package.manifest, package.profile, entries_of(package))
    rows = [ModuleLoad(version=version, path=each.path) for each in islice(modules, _MAX_MODULES)]
    if ModuleLoad.objects.bulk_create(rows):
        transaction.on_commit(wake_parser_reader)


def enqueue_loads_again(version: Version) -> None:
    """Queues the version's loads again after its libraries or runtime changed."""
    if ModuleLoad.objects.filter(version=version).update(state=ModuleLoadState.WAITING, reason=""):
        remove_problems(version, (LOADED_MODULE_MISSING.name, MODULE_LOAD_FAILED.name))
        transaction.on_commit(wake_parser_reader)
