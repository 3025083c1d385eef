"""Whether a skill is run or used, and with what to try it."""

from __future__ import annotations

from typing import Any

from registry.models import Version
from registry.packages.package import Manifest

_RUNTIMES = (".py", ".sh", ".js", ".ts")
_EXAMPLES: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}


def is_runnable(version: Version) -> bool:
    """Whether there is something to run: a script, tools, or a single-file skill; else it is only used."""
    if version.manifest.get("type") == "static":
        return False
    if version.profile == "single-file" or version.manifest.get("abp"):
        return True
    paths = version.files.filter(path__startswith="scripts/").values_list("path", flat=True)
    return any(path.endswith(_RUNTIMES) for path in paths)


def example_of(manifest: Manifest) -> dict[str, Any]:
    """The required inputs of a call: their defaults or examples, else a value of the type."""
    schema = manifest.input_schema or {}
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
