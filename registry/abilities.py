"""What a skill's latest version has and what a run of it asks for, in one number that lists can read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from typing import Any

from registry.models import Version
from registry.packages.package import Manifest


class Ability(IntFlag):
    SCRIPT = 1  # scripts, which rules and reviewers look at
    SCHEMA = 2  # its inputs are described
    SECRET = 4
    FILES = 8
    NETWORK = 16
    RUN = 32  # a run does something: by a script, an endpoint, an agent loop; a prompt alone is loaded


def abilities_of(version: Version, manifest: Manifest) -> Ability:
    is_scripted = bool(manifest.resources.entry) or version.files.filter(path__startswith="scripts/").exists()
    said = {
        Ability.SCRIPT: is_scripted,
        Ability.SCHEMA: manifest.input_schema is not None,
        Ability.SECRET: bool(manifest.security.secrets),
        Ability.FILES: _asks_for_files(manifest),
        Ability.NETWORK: manifest.security.network != "none",
        Ability.RUN: manifest.type != "static"
        and (is_scripted or bool(manifest.endpoints) or manifest.context == "fork"),
    }
    return Ability(sum(ability for ability, is_so in said.items() if is_so))


def _asks_for_files(manifest: Manifest) -> bool:
    properties = (manifest.input_schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return False
    return any(_is_file(str(name), rule) for name, rule in properties.items())


def _is_file(name: str, rule: Any) -> bool:
    rule = rule if isinstance(rule, Mapping) else {}
    said = rule.get("format") == "binary" or "contentMediaType" in rule
    return said or name.endswith(("_path", "_file"))
