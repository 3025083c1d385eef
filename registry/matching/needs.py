"""What a matched skill can do for its caller, and what a run of it would ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.actors import Actor
from registry.models import File, Skill, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest
from registry.permissions import Action, may


@dataclass(frozen=True)
class Abilities:
    """``load``: its text may be read; ``run``: there is a script, and this actor may start it."""

    load: bool
    run: bool
    needs_approval: bool
    needs_secret: bool
    needs_files: bool
    needs_network: bool
    has_input_schema: bool


def abilities(skills: Sequence[Skill], actor: Actor) -> dict[int, Abilities]:
    """By the key of the skill; of its latest version."""
    latest = [skill.latest_id for skill in skills if skill.latest_id]
    manifests = dict(Version.objects.filter(pk__in=latest).values_list("pk", "manifest"))
    scripted = set(
        File.objects.filter(version_id__in=latest, path__startswith="scripts/").values_list(
            "version_id", flat=True
        )
    )
    return {
        skill.pk: _abilities(skill, actor, manifest_of(manifests[skill.latest_id]), skill.latest_id in scripted)
        for skill in skills
        if skill.latest_id in manifests
    }


def _abilities(skill: Skill, actor: Actor, manifest: Manifest, is_scripted: bool) -> Abilities:
    security = manifest.security
    return Abilities(
        load=may(actor, Action.INSTALL, skill=skill),
        run=(is_scripted or bool(manifest.resources.entry)) and may(actor, Action.RUN, skill=skill),
        needs_approval=False,  # no rule makes a run wait for a person yet
        needs_secret=bool(security.secrets),
        needs_files=_asks_for_files(manifest.input_schema),
        needs_network=security.network != "none",
        has_input_schema=manifest.input_schema is not None,
    )


def _asks_for_files(schema: Mapping[str, Any] | None) -> bool:
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, dict):
        return False
    return any(_is_file(name, rule) for name, rule in properties.items())


def _is_file(name: str, rule: object) -> bool:
    rule = rule if isinstance(rule, dict) else {}
    said = rule.get("format") == "binary" or "contentMediaType" in rule
    return said or name.endswith(("_path", "_file"))
