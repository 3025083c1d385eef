"""What a page says of a version's dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from registry.actors import Actor
from registry.models import Version
from registry.permissions import Action, may
from worker.dependencies.preparing import preparation_document


@dataclass(frozen=True)
class Shown:
    """``runtime`` is the name that the skill chose; ``runtime_known`` whether the site has it."""

    document: Mapping[str, Any]
    may_retry: bool
    runtime: str
    runtime_known: bool

    @property
    def is_live(self) -> bool:
        return bool(self.document["state"] == "preparing")


def shown_of(version: Version, actor: Actor) -> Shown | None:
    """None where the version depends on nothing."""
    document = preparation_document(version, actor)
    runtime = str(version.manifest.get("runtime") or "")
    if document["state"] == "none" and not runtime:
        return None
    may_retry = document["state"] == "failed" and may(actor, Action.SETTINGS, skill=version.skill)
    return Shown(document, may_retry, runtime, runtime in settings.SKILLQUAY_RUNTIMES)
