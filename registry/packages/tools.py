"""The tools that a package of protocol ``abp`` declares, with their parameters as a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MOST = 200


@dataclass(frozen=True)
class Tool:
    """``schema`` is of its parameters; ``returns`` of its output, None where nothing is said of it."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    returns: Mapping[str, Any] | None = None


def tools_of(abp: Mapping[str, Any] | None) -> tuple[Tool, ...]:
    """Those with a name, each name once, in their order."""
    listed = (abp or {}).get("tools")
    found: dict[str, Tool] = {}
    for tool in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str) and name:
            found.setdefault(name, _tool(name, tool))
    return tuple(found.values())


def _tool(name: str, told: Mapping[str, Any]) -> Tool:
    returns = told.get("returns")
    typed = isinstance(returns, Mapping) and isinstance(returns.get("type"), str)
    return Tool(
        name=name,
        description=str(told.get("description") or ""),
        schema=schema_of(told.get("parameters")),
        returns=returns if typed else None,
    )


def schema_of(parameters: Any) -> Mapping[str, Any]:
    """Each parameter says itself whether it is required, and is a string where it says no type."""
    named = parameters if isinstance(parameters, Mapping) else {}
    rules = {str(name): dict(rule) for name, rule in named.items() if isinstance(rule, Mapping)}
    required = [name for name, rule in rules.items() if rule.pop("required", False) is True]
    typed = {name: {"type": "string", **rule} for name, rule in rules.items()}
    return {"type": "object", "properties": typed, "required": required}
