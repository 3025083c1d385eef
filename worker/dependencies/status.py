"""The state of a version's dependency builds, and their retry, for pages, API and commands."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from registry.additions.additions import additions_of
from registry.core.hooks import DependencyState
from registry.core.sql import Reads, Rows, prepared, reader
from registry.core.time import rfc3339
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may, require
from registry.models import Skill, Version
from worker.attempts.unpacking import open_package
from worker.dependencies import queue
from worker.dependencies.errors import PREPARATION_NONE, PREPARATION_SHARED
from worker.dependencies.needs import needs_of_unpacked
from worker.dependencies.queue import UNDER_WAY
from worker.dependencies.runtimes.choice import declared_runtime, runtime_of
from worker.models import DependencyBuild, DependencyBuildState, RuntimeChoice


def builds_of(version: Version) -> Rows[DependencyBuild]:
    """The version's builds, one per language and platform, sorted by both."""
    return _builds(version.pk)


@prepared
def _builds(version: int) -> QuerySet[DependencyBuild]:
    return DependencyBuild.objects.filter(versions=version).order_by("kind", "platform")


@prepared
def _runtime_choices(version: int) -> QuerySet[RuntimeChoice]:
    return RuntimeChoice.objects.filter(version_id=version).select_related("chosen_by")[:1]


def readiness_of(version: Version) -> DependencyState:
    return state_of(builds_of(version))


def state_of(rows: Collection[DependencyBuild]) -> DependencyState:
    """The combined state of a version's builds: ``none`` if there are no builds, ``failed`` if any failed.

    Otherwise ``ready`` if each language has a ready or unused build for at least one platform, and
    ``building`` if not. One platform is enough, because others may have no worker.
    """
    if any(row.state == DependencyBuildState.FAILED for row in rows):
        return "failed"
    built = {row.kind for row in rows if row.state not in UNDER_WAY}
    if any(row.kind not in built for row in rows):
        return "building"
    return "ready" if rows else "none"


def rebuild_dependencies(version: Version, actor: Actor) -> Rows[DependencyBuild]:
    """Enqueues failed and missing builds, and records this in the audit log; returns all builds.

    Requires ``Action.RELEASE``. Raises PREPARATION_NONE if the version needs no build.
    """
    require(actor, Action.RELEASE, skill=version.skill)
    needs = needs_of_unpacked(
        open_package(version.digest), runtime_of(version), additions_of(version).library
    )
    if not needs:
        raise PREPARATION_NONE.refusal(version=str(version))
    with transaction.atomic():
        for row in [*(queue.enqueue(version, need) for need in needs), *builds_of(version)]:
            queue.retry(row)
        skill = version.skill
        audit.record(
            actor, "version.build_dependencies", str(version), team=skill.team, digest=version.digest
        )
    return builds_of(version)


def cancel_builds(version: Version, actor: Actor) -> int:
    """Cancels the version's waiting and running builds, and records this in the audit log; returns their
    number.

    Requires ``Action.RELEASE``, also for the other skills that need one of the builds: otherwise raises
    PREPARATION_SHARED.
    """
    require(actor, Action.RELEASE, skill=version.skill)
    with transaction.atomic():
        rows = [row for row in builds_of(version) if row.state in UNDER_WAY]
        skills = Skill.objects.filter(versions__dependency_builds__in=rows).distinct()
        if not all(may(actor, Action.RELEASE, skill=skill) for skill in skills):
            raise PREPARATION_SHARED.refusal()
        done = sum(queue.cancel(row) for row in rows)
        if done:
            skill = version.skill
            action = "version.cancel_dependencies"
            audit.record(actor, action, str(version), team=skill.team, digest=version.digest)
    return done


@reader
def dependencies_document(version: Version, actor: Actor) -> Reads[dict[str, Any]]:
    """The version's builds as a JSON object; ``log`` is empty unless the actor can read the team's runs."""
    rows = builds_of(version)
    choices = _runtime_choices(version.pk)
    yield rows, choices
    with_log = may(actor, Action.READ_RUNS, skill=version.skill)
    return {
        "version": version.number,
        "state": state_of(rows),
        "runtime": _runtime_document(version, next(iter(choices), None)),
        "builds": [_row_document(row, with_log=with_log) for row in rows],
    }


def _runtime_document(version: Version, choice: RuntimeChoice | None) -> dict[str, Any]:
    declared = declared_runtime(version)
    choice = None if declared else choice
    person = choice.chosen_by.get_username() if choice and choice.chosen_by else None
    origin = "skill" if declared else "maintainer" if choice else ""
    return {"name": declared or (choice.name if choice else ""), "origin": origin, "chosen_by": person}


def _row_document(row: DependencyBuild, *, with_log: bool) -> dict[str, Any]:
    failed = row.state == DependencyBuildState.FAILED
    return {
        "id": row.uid,
        "kind": row.kind,
        "platform": row.platform,
        "state": row.state,
        "problem": queue.problem_of(row).document(gettext) if failed else None,
        "packages": row.packages,
        "size": row.size,
        "attempt": row.attempt,
        "started_at": rfc3339(row.started_at),
        "finished_at": rfc3339(row.finished_at),
        "log": row.log if with_log else "",
    }
