"""Fills the required fields of the ApexBridge profile from other parts of an old package."""

from collections.abc import Mapping
from typing import Any

from registry.packages.manifest.metadata_yml import is_empty
from registry.packages.migrate.inputs import input_schema, output_schema
from registry.packages.package import Manifest

TIMEOUT_MS = 300_000  # default if the package sets none
_FIRST = "1.0.0"


def fill_required(manifest: Manifest, values: Mapping[str, Any], body: str, source: str) -> dict[str, Any]:
    """Values for the empty required fields except ``resources``, in the profile's order.

    ``source`` is the code of the entry.
    """
    action = manifest.slug.replace("-", "_")
    tools = _tool_names(manifest.abp)
    fields = {
        "name": manifest.slug,
        "description": manifest.description,
        "version": manifest.version or _FIRST,
        "type": "direct",
        "capabilities": tools or list(manifest.triggers.intents) or [action],
        "tags": _tags(manifest),
        "triggers": _triggers(manifest, action),
        "input_schema": input_schema(manifest.abp, body, source),
        "output_schema": output_schema(manifest.abp, source),
        "security": _security(manifest),
    }
    return {
        name: value for name, value in fields.items() if value != "" and is_empty(_value_of(values, name))
    }


def _value_of(values: Mapping[str, Any], name: str) -> Any:
    """The value under ``name``, or if that is empty, the value under its camel case form."""
    first, *rest = name.split("_")
    value = values.get(name)
    return values.get(first + "".join(part.title() for part in rest)) if is_empty(value) else value


def _tool_names(abp: Mapping[str, Any] | None) -> list[str]:
    tools = (abp or {}).get("tools")
    named = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return [name for name in named if isinstance(name, str) and name]


def _tags(manifest: Manifest) -> list[str]:
    return (
        list(manifest.keywords)
        or [text for text in (manifest.category, manifest.domain) if text]
        or manifest.slug.split("-")
    )


def _triggers(manifest: Manifest, action: str) -> dict[str, Any]:
    phrases = dict.fromkeys(text for text in (manifest.display_name, *manifest.keywords) if text)
    fields: dict[str, Any] = {"intents": [action], "phrases": list(phrases)}
    if manifest.protocol == "abp":
        fields["event_types"] = ["abp.tool_request"]
    return fields


def _security(manifest: Manifest) -> dict[str, Any]:
    """The ``security`` group for a package without one.

    The values come from the manifest, which includes ``permissions``, ``requires_filesystem`` and agent.yaml.
    """
    security = manifest.security
    fields: dict[str, Any] = {"timeout_ms": security.timeout_ms or TIMEOUT_MS}
    if security.memory_mb:
        fields["memory_mb"] = security.memory_mb
    fields["network"] = security.network
    if security.network_allowlist:
        fields["network_allowlist"] = list(security.network_allowlist)
    return {**fields, "filesystem": security.filesystem}
