"""Presents the dependencies of a version."""

from typing import Any

from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Version
from worker.dependencies.runtimes.lists import is_known_runtime
from worker.dependencies.status import dependencies_document


def dependency_status(version: Version, actor: Actor) -> dict[str, Any] | None:
    """The status of the dependencies and the declared runtime; None if the version has neither."""
    document = dependencies_document(version, actor)
    runtime = str(version.manifest.get("runtime") or "")
    if document["state"] == "none" and not runtime:
        return None
    return {
        "document": document,
        "is_live": document["state"] == "building",
        "may_retry": document["state"] == "failed" and may(actor, Action.SETTINGS, skill=version.skill),
        "runtime": runtime,
        "runtime_known": is_known_runtime(runtime),
    }
