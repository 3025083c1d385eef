"""Reads the tools that an ``abp`` package declares, with their parameters as a JSON Schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MAX_TOOLS = 200


@dataclass(frozen=True)
class Tool:
    """A tool with a schema of its parameters. ``returns`` is the schema of its output, if it has a type."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    returns: Mapping[str, Any] | None = None


def tools_of(abp: Mapping[str, Any] | None) -> tuple[Tool, ...]:
    """The named tools among the first 200 declarations, in order. Of several with the same name, only the
    first.
    """
    listed = (abp or {}).get("tools")
    by_name: dict[str, Tool] = {}
    for tool in listed[:_MAX_TOOLS] if isinstance(listed, list) else ():
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str) and name:
            by_name.setdefault(name, _tool(name, tool))
    return tuple(by_name.values())


def _tool(name: str, declaration: Mapping[str, Any]) -> Tool:
    returns = declaration.get("returns")
    typed = isinstance(returns, Mapping) and isinstance(returns.get("type"), str)
    return Tool(
        name=name,
        description=str(declaration.get("description") or ""),
        schema=schema_of(declaration.get("parameters")),
        returns=returns if typed else None,
    )


def schema_of(parameters: Any) -> Mapping[str, Any]:
    """An object schema for ABP parameters, which map names to JSON Schemas with ``required`` flags.

    Parameters without a type are strings. Omits parameters that are not mappings.
    """
    named = parameters if isinstance(parameters, Mapping) else {}
    rules = {str(name): dict(rule) for name, rule in named.items() if isinstance(rule, Mapping)}
    required = [name for name, rule in rules.items() if rule.pop("required", False) is True]
    typed = {name: {"type": "string", **rule} for name, rule in rules.items()}
    return {"type": "object", "properties": typed, "required": required}
