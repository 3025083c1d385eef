"""What a version offers to press, with what to try it, and how it fares under each profile."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portal.showing.manifest_fields import Field, manifest_fields
from portal.showing.remembering import Remembered
from registry import storage
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.manifest import manifest_of
from registry.packages.package import PROFILES, Manifest, Package, Profile
from registry.packages.problems import Problem, Refused
from registry.packages.reading import fares, read_upload
from worker.protocols import Menu, menu

_EXAMPLES: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}
_READ_AGAIN = 8 * 2**20  # bytes of an archive that a page reads again to hold it to the other profiles


@dataclass(frozen=True)
class Offer:
    """What a version offers to press, and its manifest."""

    version: Version
    manifest: Manifest
    menu: Menu

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return self.manifest.input_schema

    @property
    def fields(self) -> list[Field]:
        return manifest_fields(self.manifest)

    @property
    def runnable(self) -> bool:
        """Whether a person may press it; internal ones are started by other skills and the API."""
        return self.callable and not self.is_internal

    @property
    def callable(self) -> bool:
        """By the form of a script, a tool or an endpoint; a prompt alone is used."""
        return not self.menu.unavailable and not self.menu.prompt_only

    @property
    def is_internal(self) -> bool:
        return self.manifest.type == INTERNAL

    @property
    def is_static(self) -> bool:
        """Reading matter: files to read, and not meant as a prompt either."""
        return self.manifest.type == "static"

    @property
    def protocol(self) -> str:
        """How the script is spoken to that runs when none is named, else the first of them."""
        scripts = self.menu.scripts
        found = next((one for one in scripts if one.id == self.menu.default), scripts[0] if scripts else None)
        return found.protocol if found else ""


_MENUS: Remembered[Menu] = Remembered(512)
_FARES: Remembered[dict[Profile, tuple[Problem, ...]]] = Remembered(512)


def offer_of(version: Version) -> Offer:
    """The menu of a version, read from its archive once."""
    manifest = manifest_of(version.manifest)
    key = (version.digest, version.profile)
    return Offer(version, manifest, _MENUS.get(key, lambda: _menu(version, manifest)))


def _menu(version: Version, manifest: Manifest) -> Menu:
    with storage.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        paths = tuple(version.files.values_list("path", flat=True))
        profile: Profile = version.profile  # type: ignore[assignment]
        return menu(paths, manifest, profile, archive.read)


@dataclass(frozen=True)
class Fare:
    """How a package fares under one profile; ``chosen``: it is held to this one."""

    profile: Profile
    problems: tuple[Problem, ...]
    chosen: bool

    @property
    def errors(self) -> int:
        return sum(problem.severity == "error" for problem in self.problems)


def fares_of(package: Package) -> list[Fare]:
    """The same files, held to every profile; the package's own first."""
    return _fares(package.profile, fares(package) | {package.profile: package.problems})


def fares_of_version(version: Version, problems: tuple[Problem, ...]) -> list[Fare]:
    """A stored version's; ``problems`` are what was found under its own profile when it was published."""
    own: Profile = version.profile  # type: ignore[assignment]
    if version.archive_size > _READ_AGAIN:
        return [Fare(own, problems, True)]
    found = _FARES.get((version.digest, version.skill.slug), lambda: _read_again(version))
    return _fares(own, found | {own: problems})


def _read_again(version: Version) -> dict[Profile, tuple[Problem, ...]]:
    try:
        return fares(read_upload(storage.read(version.digest), filename=f"{version.skill.slug}.zip"))
    except Refused:
        return {}  # the limits of this site are narrower now than they were


def _fares(own: Profile, found: Mapping[Profile, tuple[Problem, ...]]) -> list[Fare]:
    rows = [Fare(profile, found[profile], profile == own) for profile in PROFILES if profile in found]
    return sorted(rows, key=lambda fare: not fare.chosen)


def example_call(offer: Offer) -> dict[str, Any]:
    """A call of the version as the API takes it: what has to be named, and the required inputs."""
    scripts, actions = offer.menu.scripts, [action for action in offer.menu.actions if action.declared]
    call: dict[str, Any] = {"skill": str(offer.version.skill)}
    if offer.version.pk != offer.version.skill.latest_id:
        call["version"] = offer.version.number
    if tools := offer.menu.tools:
        return call | {"tool": tools[0].name, "inputs": example_of(tools[0].schema)}
    if scripts and not offer.menu.default:
        call["script"] = scripts[0].id
    if offer.protocol == "stdin_json" and len(actions) > 1:
        call["action"] = actions[0].name
    return call | {"inputs": example_of(offer.schema)}


def example_of(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The required inputs of a call: their defaults or examples, else a value of the type."""
    schema = schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    rules = {name: properties[name] for name in required if isinstance(name, str) and name in properties}
    return {name: _value(rule if isinstance(rule, dict) else {}) for name, rule in list(rules.items())[:20]}


def _value(rule: dict[str, Any]) -> Any:
    if "default" in rule:
        return rule["default"]
    for key in ("examples", "enum"):
        if isinstance(rule.get(key), list) and rule[key]:
            return rule[key][0]
    kind = rule.get("type")
    return _EXAMPLES.get(kind, "…") if isinstance(kind, str) else "…"
