"""Finds the permissions that a manifest requests.

Every field that is not listed as safe here, known or unknown, counts as a request.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.packages.compare.permission_set import PermissionSet, permissions_of
from registry.packages.package import Manifest, Security

# The thirty safe properties of the Claude Code command format, under their names in that format.
_SAFE_FIELDS = """
    type progressMessage contentLength argNames model effort source pluginInfo disableNonInteractive skillRoot
    context agent getPromptForCommand frontmatterKeys name description hasUserSpecifiedDescription isEnabled
    isHidden aliases isMcp argumentHint whenToUse paths version disableModelInvocation userInvocable
    loadedFrom immediate userFacingName
"""
# These fields only describe a skill.
_DESCRIBING = """
    tags keywords capabilities domain category triggers license compatibility author authors homepage
    repository
"""
# These fields control calls and caching, within the site's limits. The script itself needs approval.
_CALLING = """
    input_schema output_schema protocol abp resources cacheable cache_scope ttl retry_on_lost
    requires_filesystem security.timeout_ms security.memory_mb profile config actions supported_actions
"""
# The fields that PermissionSet describes in detail.
_PERMISSIONS = """
    allowed_tools hooks shell requires security.network security.network_allowlist security.environment
    security.secrets security.filesystem
"""
SAFE = frozenset(_SAFE_FIELDS.split())
FIELD_ALIASES = {  # fields whose name differs from the Claude Code format by more than its spelling
    "slug": "name",
    "display_name": "userFacingName",
    "version_as_written": "version",
    "arguments": "argNames",
}
SCRIPTS_PROPERTY = "scripts/"  # the property of a package that has scripts
# For agents of the publishing team, these need no approval: the sandbox confines a script, and each
# skill that the script starts needs its own approval.
SAFE_WITHIN_TEAM = frozenset({SCRIPTS_PROPERTY, "requires"})
_PERMISSION_FIELDS = frozenset(_PERMISSIONS.split())
_GROUPS = ("security", "permissions", "triggers", "resources")  # checked field by field
_WITHOUT_EFFECT = frozenset({"requires"})  # such as ``requires: {mcp: […]}``: it lets a script start no skill
_MAX_VALUE_LENGTH = 100  # characters of a value; longer ones are shortened


def _normalize_name(name: str) -> str:
    """A key that is equal for ``argument-hint``, ``argument_hint`` and ``argumentHint``."""
    return name.replace("-", "").replace("_", "").casefold()


_SAFE_KEYS = frozenset(map(_normalize_name, (*SAFE, *_DESCRIBING.split(), *_CALLING.split(), *FIELD_ALIASES)))


NO_PERMISSIONS = PermissionSet()


@dataclass(frozen=True)
class RequestedPermissions:
    """The permissions that a version requests. A later version that requests more needs a new approval."""

    permissions: PermissionSet = NO_PERMISSIONS
    properties: frozenset[str] = frozenset()  # "name: value" of fields outside the permission set

    def __bool__(self) -> bool:
        return bool(self.permissions or self.properties)

    def beyond(self, other: RequestedPermissions) -> RequestedPermissions:
        """The permissions that ``other`` does not cover. Empty if no new approval is needed."""
        return RequestedPermissions(
            self.permissions.beyond(other.permissions), self.properties - other.properties
        )

    def __or__(self, other: RequestedPermissions) -> RequestedPermissions:
        parts = {
            field.name: getattr(self.permissions, field.name) | getattr(other.permissions, field.name)
            for field in dataclasses.fields(PermissionSet)
        }
        return RequestedPermissions(PermissionSet(**parts), self.properties | other.properties)

    def document(self) -> dict[str, list[str]]:
        """The non-empty parts by name, each as a sorted list, for storage as JSON."""
        parts = {
            field.name: sorted(getattr(self.permissions, field.name))
            for field in dataclasses.fields(PermissionSet)
        }
        parts["properties"] = sorted(self.properties)
        return {name: names for name, names in parts.items() if names}


def permissions_from_document(document: Mapping[str, list[str]]) -> RequestedPermissions:
    """The permissions in a ``RequestedPermissions.document``. Ignores parts that another release added."""
    known = {field.name for field in dataclasses.fields(PermissionSet)}
    parts = {name: frozenset(names) for name, names in document.items() if name in known}
    return RequestedPermissions(PermissionSet(**parts), frozenset(document.get("properties", ())))


def requested_permissions(manifest: Manifest, *, has_scripts: bool) -> RequestedPermissions:
    other_fields = {
        f"{name}: {_shorten(value)}"
        for name, value in _unsafe_fields(manifest)
        if name not in _PERMISSION_FIELDS
    }
    return RequestedPermissions(
        permissions_of(manifest), frozenset(other_fields | ({SCRIPTS_PROPERTY} if has_scripts else set()))
    )


def unsafe_properties(manifest: Manifest, *, has_scripts: bool) -> tuple[str, ...]:
    """The sorted names of fields not listed as safe, with SCRIPTS_PROPERTY if the skill has scripts.

    Omits fields with their default value or an empty value.
    """
    return tuple(
        sorted(
            {name for name, _value in _unsafe_fields(manifest)}
            | ({SCRIPTS_PROPERTY} if has_scripts else set())
        )
    )


def _unsafe_fields(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    for name, value in _non_default_fields(manifest):
        group = name.partition(".")[0]  # values in ``metadata`` have no effect
        if group != "metadata" and _normalize_name(name) not in _SAFE_KEYS and not _is_empty(value):
            yield name, value


def _non_default_fields(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    """Yields name and value of each known field that differs from its default, and of each unknown field.

    Names are ``group.field`` for fields of ``security`` and ``metadata``, and for unknown fields in groups.
    Omits ``security.filesystem: none``, because it requests less than the default.
    """
    defaults = Manifest("", "", "", "")
    for field in dataclasses.fields(Manifest):
        value = getattr(manifest, field.name)
        if field.name == "security":
            yield from _security(value)
        elif field.name in ("metadata", "extra"):
            yield from _flatten(value, field.name)
        elif value != getattr(defaults, field.name):
            yield field.name, value


def _security(security: Security) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(Security):
        value = getattr(security, field.name)
        narrower = field.name == "filesystem" and value == "none"
        if value != getattr(Security(), field.name) and not narrower:
            yield f"security.{field.name}", value


def _flatten(fields: Mapping[str, Any], group: str) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if group == "extra" and name in _WITHOUT_EFFECT:
            continue
        if group == "extra" and name in _GROUPS and isinstance(value, Mapping):
            yield from _flatten(value, name)
        else:
            yield name if group == "extra" else f"{group}.{name}", value


def _is_empty(value: object) -> bool:
    """Whether the Claude Code format treats the value as absent: None, an empty list or an empty mapping."""
    return value is None or (isinstance(value, (list, tuple, Mapping)) and not value)


def _shorten(value: object) -> str:
    """The value as JSON. Above 100 characters, the rest is replaced by a digest of the whole value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if len(text) <= _MAX_VALUE_LENGTH:
        return text
    return f"{text[:_MAX_VALUE_LENGTH]}… {hashlib.sha256(text.encode()).hexdigest()[:12]}"
