"""The runtime of a version: that of its manifest, otherwise the choice of a maintainer."""

from __future__ import annotations

from django.db import transaction

from registry.additions.additions import additions_of
from registry.core.hooks import Hook
from registry.core.sql import Reads, reader
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Version
from worker.attempts.unpacking import UnpackedPackage, open_package
from worker.dependencies import queue
from worker.dependencies.errors import RUNTIME_DECLARED, RUNTIME_UNKNOWN
from worker.dependencies.needs import needs_of_unpacked
from worker.dependencies.runtimes.lists import NAMES, runtime_list
from worker.models import DependencyBuild, DependencyKind, RuntimeChoice

environment_changed: Hook[[Version], None] = Hook()


def declared_runtime(version: Version) -> str:
    """The runtime in the version's manifest, or ""."""
    return str(version.manifest.get("runtime") or "")


@reader
def chosen_runtime(version: Version) -> Reads[str]:
    """The runtime that a maintainer chose, or "". The manifest's runtime takes precedence."""
    yield (names := RuntimeChoice.objects.filter(version=version).values_list("name", flat=True)[:1])
    return next(iter(names), "")


def runtime_of(version: Version) -> str:
    return declared_runtime(version) or chosen_runtime(version)


def runtime_of_run(declared: str, skill: int | None, number: str) -> str:
    """The runtime of a run: ``declared`` by the manifest, otherwise chosen for version ``number`` of the
    skill.
    """
    if declared or skill is None:
        return declared
    chosen = RuntimeChoice.objects.filter(version__skill=skill, version__number=number)
    return chosen.values_list("name", flat=True).first() or ""


def choose_runtime(version: Version, name: str, actor: Actor) -> None:
    """Sets the version's runtime, or removes it with "", and enqueues the builds that the version now needs.

    Requires ``Action.RELEASE``. Raises RUNTIME_DECLARED if the manifest declares a runtime, and
    RUNTIME_UNKNOWN if ``name`` is not one of ``buildable_runtimes``. Only a manifest can select a folder that
    administrators added, because its runs need approval.
    """
    require(actor, Action.RELEASE, skill=version.skill)
    if declared := declared_runtime(version):
        raise RUNTIME_DECLARED.refusal(runtime=declared).at("runtime")
    if name and runtime_list(name) is None:
        raise RUNTIME_UNKNOWN.refusal(runtime=name, names=tuple(buildable_runtimes())).at("runtime")
    package = open_package(version.digest)
    with transaction.atomic():
        if name:
            chosen = {"name": name, "chosen_by": actor.user}
            RuntimeChoice.objects.update_or_create(version=version, defaults=chosen)
        else:
            RuntimeChoice.objects.filter(version=version).delete()
        enqueue_needs(version, package)
        audit.record(
            actor, "version.choose_runtime", str(version), team=version.skill.team, runtime=name or None
        )


def enqueue_needs(version: Version, package: UnpackedPackage | None = None) -> None:
    """Enqueues the builds that the version needs with its current runtime and additions.

    Removes the version from its other Python builds, and announces the change with ``environment_changed``.
    """
    package = package or open_package(version.digest)
    libraries = additions_of(version).library
    needs = needs_of_unpacked(package, runtime_of(version), libraries)
    rows = [queue.enqueue(version, need) for need in needs]
    for row in _unneeded(version, rows):
        row.versions.remove(version)
    environment_changed.send(version)


def buildable_runtimes() -> list[str]:
    """The runtimes that a maintainer can choose."""
    return [name for name in NAMES if runtime_list(name)]


def _unneeded(version: Version, rows: list[DependencyBuild]) -> list[DependencyBuild]:
    """The version's Python builds for its earlier runtime or additions."""
    builds = DependencyBuild.objects.filter(versions=version, kind=DependencyKind.PYTHON)
    return list(builds.exclude(pk__in=[row.pk for row in rows]))
