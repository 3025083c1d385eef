"""What a manifest asks to be allowed, as one value that can be held against another."""

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
    """Everything that a person agrees to when they let a skill run; each part a set of names."""

    hosts: Names = _NONE
    filesystem: Names = _NONE  # "read-only", or nothing
    environment: Names = _NONE  # "NAME=value"
    secrets: Names = _NONE
    tools: Names = _NONE  # of the agent that uses the skill, as ``Bash(git log:*)``
    hooks: Names = _NONE  # "Event: what it does", as JSON
    shell: Names = _NONE
    skills: Names = _NONE  # that it may start

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in dataclasses.fields(self))

    def beyond(self, other: PermissionSet) -> PermissionSet:
        """What this asks for and ``other`` does not cover: empty where nothing need be asked again."""
        parts = {
            field.name: getattr(self, field.name) - getattr(other, field.name)
            for field in dataclasses.fields(self)
        }
        parts["hosts"] = frozenset(host for host in self.hosts if not _reached(host, other.hosts))
        parts["tools"] = frozenset(tool for tool in self.tools if not _called(tool, other.tools))
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


def _reached(host: str, allowed: Names) -> bool:
    """A name below ``*.example.org`` is reached where that is."""
    above = host.removeprefix("*.").split(".")
    return host in allowed or any("*." + ".".join(above[n:]) in allowed for n in range(1, len(above)))


def _called(tool: str, allowed: Names) -> bool:
    """``Bash(git log:*)`` is called where ``Bash`` is, whatever it is called with."""
    return tool in allowed or tool.partition("(")[0] in allowed
