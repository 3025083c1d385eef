"""The fields that document C requires, made of what an old package says elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.packages.metadata_yml import is_empty
from registry.packages.migrating.inputs import input_schema, output_schema
from registry.packages.package import Manifest

TIMEOUT_MS = 300_000  # what holds where nothing is said
_FIRST = "1.0.0"


def filled(manifest: Manifest, values: Mapping[str, Any], body: str, source: str) -> dict[str, Any]:
    """The required fields that are empty, in the order of document C; ``source`` is the entry's code."""
    action = manifest.slug.replace("-", "_")
    tools = _tool_names(manifest.abp)
    wanted = {
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
    return {name: value for name, value in wanted.items() if value != "" and is_empty(_said(values, name))}


def _said(values: Mapping[str, Any], name: str) -> Any:
    """As it is written, or in camel case."""
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
    found: dict[str, Any] = {"intents": [action], "phrases": list(phrases)}
    if manifest.protocol == "abp":
        found["event_types"] = ["abp.tool_request"]
    return found


def _security(manifest: Manifest) -> dict[str, Any]:
    """What ``permissions``, ``requires_filesystem`` and agent.yaml were read as."""
    security = manifest.security
    found: dict[str, Any] = {"timeout_ms": security.timeout_ms or TIMEOUT_MS}
    if security.memory_mb:
        found["memory_mb"] = security.memory_mb
    found["network"] = security.network
    if security.network_allowlist:
        found["network_allowlist"] = list(security.network_allowlist)
    return {**found, "filesystem": security.filesystem}
