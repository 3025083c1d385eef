from typing import Any

from django.db.models import QuerySet

from registry.core.sql import Reads, gather, prepared, reader
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import EntryCommandLine, Version
from worker.dependencies.queue import UNDER_WAY
from worker.dependencies.runtimes.choice import buildable_runtimes, declared_runtime
from worker.dependencies.runtimes.lists import is_known_runtime
from worker.dependencies.status import dependencies_document


@reader
def dependency_status(version: Version, actor: Actor) -> Reads[dict[str, Any] | None]:
    """Dependencies and runtime; None if the version has neither and the actor can choose no runtime."""
    document, choices = yield from gather(
        dependencies_document.reads(version, actor), _choices(version, actor)
    )
    runtime = document["runtime"]["name"]
    may_build = may(actor, Action.RELEASE, skill=version.skill)
    if document["state"] == "none" and not runtime and not choices:
        return None
    return {
        "document": document,
        "is_live": document["state"] == "building",
        "may_retry": may_build and document["state"] == "failed",
        "may_cancel": may_build and any(row["state"] in UNDER_WAY for row in document["builds"]),
        "runtime": runtime,
        "runtime_known": is_known_runtime(runtime),
        "runtime_choices": choices,
    }


def _choices(version: Version, actor: Actor) -> Reads[list[str]]:
    """The runtimes that the actor can choose for the version.

    Empty if the package declares its runtime or has no scripts, or if the actor may not release the skill.
    """
    if declared_runtime(version) or not may(actor, Action.RELEASE, skill=version.skill):
        return []
    yield (scripts := _first_script(version.pk))
    return buildable_runtimes() if scripts else []


@prepared
def _first_script(version: int) -> QuerySet[EntryCommandLine, int]:
    return EntryCommandLine.objects.filter(version_id=version).values_list("pk", flat=True)[:1]
