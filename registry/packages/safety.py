"""What a manifest asks for beyond what is safe: a field that is not listed here asks, new ones included."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.packages.package import Manifest, Security
from registry.packages.permission_set import PermissionSet, permissions_of

# The thirty of document D, by its names.
_DOCUMENT_D = """
    type progressMessage contentLength argNames model effort source pluginInfo disableNonInteractive skillRoot
    context agent getPromptForCommand frontmatterKeys name description hasUserSpecifiedDescription isEnabled
    isHidden aliases isMcp argumentHint whenToUse paths version disableModelInvocation userInvocable
    loadedFrom immediate userFacingName
"""
# They say what a skill is; nothing acts on them.
_DESCRIBING = """
    tags keywords capabilities domain category triggers license compatibility author authors homepage
    repository
"""
# How a script is called and its answer kept, within the site's limits; that there is a script asks by itself.
_CALLING = """
    input_schema output_schema protocol abp resources cacheable cache_scope ttl retry_on_lost
    requires_filesystem security.timeout_ms security.memory_mb profile config actions supported_actions
"""
# The fields of which a PermissionSet tells more than their names.
_PERMISSIONS = """
    allowed_tools hooks shell requires security.network security.network_allowlist security.environment
    security.secrets security.filesystem
"""
SAFE = frozenset(_DOCUMENT_D.split())
CALLED = {  # where more than the spelling of a field differs from document D's
    "slug": "name",
    "display_name": "userFacingName",
    "version_as_written": "version",
    "arguments": "argNames",
}
SCRIPTS = "scripts/"  # the property of a package that brings something to run
# What a team's agents are not asked about where the team published it: the sandbox holds a script, and each
# skill that it starts is decided on by itself.
OWN = frozenset({SCRIPTS, "requires"})
_TOLD = frozenset(_PERMISSIONS.split())
_GROUPS = ("security", "permissions", "metadata", "triggers", "resources")  # looked into, field by field
_SHOWN = 100  # characters of a value


def _spelt(name: str) -> str:
    """``argument-hint``, ``argument_hint`` and ``argumentHint`` are one field."""
    return name.replace("-", "").replace("_", "").casefold()


_LISTED = frozenset(map(_spelt, (*SAFE, *_DESCRIBING.split(), *_CALLING.split(), *CALLED)))


NOTHING = PermissionSet()


@dataclass(frozen=True)
class Asks:
    """Everything that a version asks for: what somebody grants, and what a later version is held against."""

    permissions: PermissionSet = NOTHING
    properties: frozenset[str] = frozenset()  # "name: value" of fields that no permission tells of

    def __bool__(self) -> bool:
        return bool(self.permissions or self.properties)

    def beyond(self, other: Asks) -> Asks:
        """What ``other`` does not cover: empty where nobody need be asked again."""
        return Asks(self.permissions.beyond(other.permissions), self.properties - other.properties)

    def __or__(self, other: Asks) -> Asks:
        parts = {
            field.name: getattr(self.permissions, field.name) | getattr(other.permissions, field.name)
            for field in dataclasses.fields(PermissionSet)
        }
        return Asks(PermissionSet(**parts), self.properties | other.properties)

    def document(self) -> dict[str, list[str]]:
        """The parts that ask for something, each a sorted list."""
        parts = {
            field.name: sorted(getattr(self.permissions, field.name))
            for field in dataclasses.fields(PermissionSet)
        }
        parts["properties"] = sorted(self.properties)
        return {name: names for name, names in parts.items() if names}


def asks_from(document: Mapping[str, list[str]]) -> Asks:
    """What ``Asks.document`` wrote; parts that another release added ask for nothing here."""
    known = {field.name for field in dataclasses.fields(PermissionSet)}
    parts = {name: frozenset(names) for name, names in document.items() if name in known}
    return Asks(PermissionSet(**parts), frozenset(document.get("properties", ())))


def asks_of(manifest: Manifest, *, has_scripts: bool) -> Asks:
    untold = {f"{name}: {_short(value)}" for name, value in _unlisted(manifest) if name not in _TOLD}
    return Asks(permissions_of(manifest), frozenset(untold | ({SCRIPTS} if has_scripts else set())))


def unsafe_properties(manifest: Manifest, *, has_scripts: bool) -> tuple[str, ...]:
    """The fields with a meaning of their own that are not listed as safe; empty: nobody need be asked."""
    return tuple(
        sorted({name for name, _value in _unlisted(manifest)} | ({SCRIPTS} if has_scripts else set()))
    )


def _unlisted(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    for name, value in _said(manifest):
        group, _dot, inner = name.partition(".")
        listed = _spelt(name) in _LISTED or (group == "metadata" and _spelt(inner) in _LISTED)
        if not listed and not _is_empty(value):
            yield name, value


def _said(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    """Every field that says something else than its default, those of the groups by ``group.field``."""
    unsaid = Manifest("", "", "", "")
    for field in dataclasses.fields(Manifest):
        value = getattr(manifest, field.name)
        if field.name == "security":
            yield from _security(value)
        elif field.name in ("metadata", "extra"):
            yield from _walked(value, field.name)
        elif value != getattr(unsaid, field.name):
            yield field.name, value


def _security(security: Security) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(Security):
        value = getattr(security, field.name)
        narrower = field.name == "filesystem" and value == "none"
        if value != getattr(Security(), field.name) and not narrower:
            yield f"security.{field.name}", value


def _walked(fields: Mapping[str, Any], group: str) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if group == "extra" and name in _GROUPS and isinstance(value, Mapping):
            yield from _walked(value, name)
        else:
            yield name if group == "extra" else f"{group}.{name}", value


def _is_empty(value: object) -> bool:
    """As document D counts it: only nothing, an empty list and an empty group mean nothing."""
    return value is None or (isinstance(value, (list, tuple, Mapping)) and not value)


def _short(value: object) -> str:
    """The value as JSON; of a long one its beginning and what tells it from others."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}… {hashlib.sha256(text.encode()).hexdigest()[:12]}"
