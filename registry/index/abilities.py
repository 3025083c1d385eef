"""Bit flags that lists and filters use: the contents of a version and the requirements of its runs."""

from collections.abc import Mapping
from enum import IntFlag
from typing import Any

from registry.core.sql import Reads, reader
from registry.models import Version
from registry.packages.package import Manifest


class Ability(IntFlag):
    SCRIPT = 1  # has scripts
    SCHEMA = 2  # has an input schema
    SECRET = 4
    FILES = 8
    NETWORK = 16
    RUN = 32  # can run with a script, an endpoint or an agent loop; a prompt can only be loaded


_RUN = Ability.RUN.value


@reader
def is_scripted(version: Version, manifest: Manifest) -> Reads[bool]:
    """Whether the version has scripts."""
    if manifest.resources.entry:
        return True
    yield (scripts := version.files.filter(path__startswith="scripts/").order_by().values_list("pk")[:1])
    return len(scripts) > 0


def detect_abilities(version: Version, manifest: Manifest) -> Ability:
    has_scripts = is_scripted(version, manifest)
    abilities = {
        Ability.SCRIPT: has_scripts,
        Ability.SCHEMA: manifest.input_schema is not None,
        Ability.SECRET: bool(manifest.security.secrets),
        Ability.FILES: _accepts_files(manifest),
        Ability.NETWORK: manifest.security.network != "none",
        Ability.RUN: manifest.type != "static"
        and (has_scripts or bool(manifest.endpoints) or manifest.context == "fork"),
    }
    return Ability(sum(ability for ability, is_present in abilities.items() if is_present))


def kind_name(type_: str, abilities: int) -> str:
    """The kind of a skill with this type and these abilities: the key of the filter that finds the skill."""
    if type_ == "static":
        return "reference"
    if abilities & _RUN:
        return "tools" if type_ == "service" else "script"
    return "prompt"


def _accepts_files(manifest: Manifest) -> bool:
    properties = (manifest.input_schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return False
    return any(_is_file(str(name), rule) for name, rule in properties.items())


def _is_file(name: str, rule: Any) -> bool:
    rule = rule if isinstance(rule, Mapping) else {}
    is_declared = rule.get("format") == "binary" or "contentMediaType" in rule
    return is_declared or name.endswith(("_path", "_file"))
