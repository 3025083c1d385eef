"""Bit flags that lists and filters use: the contents of a version and the requirements of its runs."""

from collections.abc import Mapping
from enum import IntFlag
from typing import Any

from registry.models import Version
from registry.packages.package import Manifest


class Ability(IntFlag):
    SCRIPT = 1  # has scripts
    SCHEMA = 2  # has an input schema
    SECRET = 4
    FILES = 8
    NETWORK = 16
    RUN = 32  # can run with a script, an endpoint or an agent loop; a prompt can only be loaded


def detect_abilities(version: Version, manifest: Manifest) -> Ability:
    is_scripted = bool(manifest.resources.entry) or version.files.filter(path__startswith="scripts/").exists()
    abilities = {
        Ability.SCRIPT: is_scripted,
        Ability.SCHEMA: manifest.input_schema is not None,
        Ability.SECRET: bool(manifest.security.secrets),
        Ability.FILES: _accepts_files(manifest),
        Ability.NETWORK: manifest.security.network != "none",
        Ability.RUN: manifest.type != "static"
        and (is_scripted or bool(manifest.endpoints) or manifest.context == "fork"),
    }
    return Ability(sum(ability for ability, is_present in abilities.items() if is_present))


def _accepts_files(manifest: Manifest) -> bool:
    properties = (manifest.input_schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return False
    return any(_is_file(str(name), rule) for name, rule in properties.items())


def _is_file(name: str, rule: Any) -> bool:
    rule = rule if isinstance(rule, Mapping) else {}
    is_declared = rule.get("format") == "binary" or "contentMediaType" in rule
    return is_declared or name.endswith(("_path", "_file"))
