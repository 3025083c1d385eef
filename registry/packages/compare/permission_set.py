"""The permissions of a manifest as one comparable value."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from registry.packages.package import Manifest

Names = frozenset[str]
_NONE: Names = frozenset()


@dataclass(frozen=True)
class PermissionSet:
    """The permissions that an approval of a skill covers. Each field is a set of names."""

    hosts: Names = _NONE
    filesystem: Names = _NONE  # "read-only" or empty
    environment: Names = _NONE  # "NAME=value"
    secrets: Names = _NONE
    tools: Names = _NONE  # tools of the agent, such as ``Bash(git log:*)``
    hooks: Names = _NONE  # "Event: action", as JSON
    shell: Names = _NONE
    skills: Names = _NONE  # skills that the skill may start

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in dataclasses.fields(self))

    def beyond(self, other: PermissionSet) -> PermissionSet:
        """The permissions that ``other`` does not cover. Empty if no new approval is needed."""
        parts = {
            field.name: getattr(self, field.name) - getattr(other, field.name)
            for field in dataclasses.fields(self)
        }
        parts["hosts"] = frozenset(host for host in self.hosts if not covers_host(host, other.hosts))
        parts["tools"] = frozenset(tool for tool in self.tools if not _covers_tool(tool, other.tools))
        return PermissionSet(**parts)


def permissions_of(manifest: Manifest) -> PermissionSet:
    security = manifest.security
    return PermissionSet(
        hosts=frozenset(map(str.lower, security.network_allowlist)) if security.network != "none" else _NONE,
        filesystem=frozenset({security.filesystem} - {"none"}),
        environment=frozenset(f"{name}={value}" for name, value in security.environment.items()),
        secrets=frozenset(security.secrets),
        tools=frozenset(manifest.allowed_tools),
        hooks=_hooks(manifest.hooks),
        shell=frozenset({_text(manifest.shell)} if manifest.shell else ()),
        skills=frozenset(manifest.requires),
    )


def _hooks(hooks: Any) -> Names:
    if isinstance(hooks, dict):
        return frozenset(f"{event}: {_text(does)}" for event, does in hooks.items() if does)
    return frozenset({_text(hooks)} if hooks else ())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def covers_host(host: str, allowed: Names) -> bool:
    """Whether the allowed hosts cover the host; ``*.example.org`` covers every name below ``example.org``."""
    above = host.removeprefix("*.").split(".")
    return host in allowed or any("*." + ".".join(above[n:]) in allowed for n in range(1, len(above)))


def _covers_tool(tool: str, allowed: Names) -> bool:
    """Whether the allowed tools cover the tool; ``Bash`` covers ``Bash(git log:*)``."""
    return tool in allowed or tool.partition("(")[0] in allowed
