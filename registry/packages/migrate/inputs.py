"""Derives schemas for an old package from its ABP tool, its parameter list, or the code of its entry."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.packages.manifest.sections import PARAMETERS, headings, prose

_MAX_PROPERTIES = 200  # properties per schema
_ROW = re.compile(
    r" {0,3}[-*+][ \t]{1,9}(?P<mark>[`*]{0,3})(?P<name>[A-Za-z_]\w{0,63})[`*]{0,3}[ \t]{0,9}"
    r"(?:[(（](?P<about>[^()（）]{0,200})[)）])?[ \t]{0,9}(?:[:：—–-][ \t]{0,9})?(?P<text>.*)"
)
_PARAMETER_USE = re.compile(
    r"\bparameters(?:\?\.|\.)([A-Za-z_]\w{0,63})(?:[ \t]{1,9}as[ \t]{1,9}([\w<>\[\], ]{1,99}))?"
)
_DEFAULT = re.compile(
    r"(?:\bdefaults?(?: to)?\b|默认值?为?|缺省)[ \t]*[:：=]?[ \t]*[`\"“]([^`\"”\s]{1,99})[`\"”]?", re.I
)
_PLAIN_DEFAULT = re.compile(
    r"(?:\bdefaults?(?: to)?\b|默认值?为?|缺省)[ \t]*[:：=]?[ \t]*(-?\d[\d.]{0,20}|true|false)", re.I
)
_REQUIRED = re.compile(r"(?<!not )\brequired\b|必填|必需|必须", re.I)
_OPTIONAL = re.compile(r"\boptional\b|\bnot required\b|可选|选填|非必填", re.I)
_TYPES = {
    "string": "string str text date datetime url path 字符串 文本",
    "number": "number float double decimal 数字 数值",
    "integer": "integer int long 整数",
    "boolean": "boolean bool 布尔 布尔值",
    "array": "array list any[] string[] number[] 数组 列表",
    "object": "object dict map json record 对象",
}
_KINDS = {word: kind for kind, words in _TYPES.items() for word in words.split()}
_ABP_KEYS = (
    "description",
    "default",
    "enum",
    "items",
    "properties",
    "minimum",
    "maximum",
    "format",
    "pattern",
)


def input_schema(abp: Mapping[str, Any] | None, body: str, source: str) -> dict[str, Any]:
    """An object schema of the parameters of an old package; ``{"type": "object"}`` if it has none.

    Uses the first source with parameters: the only ABP tool, the list in ``body``, the code in ``source``.
    """
    return (
        _tool_schema(abp)
        or _object_schema(_listed_parameters(body))
        or _object_schema(_parameters_in_code(source))
        or {"type": "object"}
    )


def output_schema(abp: Mapping[str, Any] | None, source: str) -> dict[str, Any]:
    """The type and description from ``returns`` of the only ABP tool.

    Without them, an object schema if ``source`` contains ``format: "object"``, otherwise ``{}``.
    """
    returns = (_only_tool(abp) or {}).get("returns")
    if isinstance(returns, Mapping) and isinstance(returns.get("type"), str):
        return {key: returns[key] for key in ("type", "description") if isinstance(returns.get(key), str)}
    return {"type": "object"} if re.search(r"format\s{0,9}:\s{0,9}['\"]object['\"]", source) else {}


def _only_tool(abp: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    tools = (abp or {}).get("tools")
    only = tools[0] if isinstance(tools, list) and len(tools) == 1 else None
    return only if isinstance(only, Mapping) else None


def _tool_schema(abp: Mapping[str, Any] | None) -> dict[str, Any] | None:
    parameters = (_only_tool(abp) or {}).get("parameters")
    if not isinstance(parameters, Mapping):
        return None
    rows = []
    for name, one in parameters.items():
        if isinstance(one, Mapping):
            details = {key: one[key] for key in _ABP_KEYS if key in one}
            rows.append((name, {"type": one.get("type", "string"), **details}, one.get("required") is True))
    return _object_schema(rows)


def _object_schema(rows: Any) -> dict[str, Any] | None:
    properties = {name: (rule, required) for name, rule, required in list(rows)[:_MAX_PROPERTIES]}
    if not properties:
        return None
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: rule for name, (rule, _) in properties.items()},
    }
    if needed := [name for name, (_, required) in properties.items() if required]:
        schema["required"] = needed
    return schema


def _listed_parameters(body: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yields name, schema and required flag of each parameter listed under a parameters heading.

    Rows look like ``- `name` (type, required): text``.
    """
    level = 0
    starts = {heading.line: heading for heading in headings(body)}
    for number, line in prose(body):
        if heading := starts.get(number):
            if PARAMETERS.pattern.search(heading.text):
                level = heading.level
            elif heading.level <= level:
                level = 0
        elif level and (row := _ROW.fullmatch(line)) and (row["mark"] or row["about"]):
            yield row["name"], *_property(row["about"] or "", row["text"].strip())


def _property(about: str, text: str) -> tuple[dict[str, Any], bool]:
    words = [part.strip().lower() for part in re.split(r"[,，、;；|]", about)]
    kind = next((_KINDS[part] for part in words if part in _KINDS), None)
    rule: dict[str, Any] = {"type": kind} if kind else {}
    if text:
        rule["description"] = text[:1000]
    whole = f"{about} {text}"
    default = _default(whole, kind)
    if default is not None:
        rule["default"] = default
    return rule, bool(_REQUIRED.search(whole) and not _OPTIONAL.search(whole) and default is None)


def _default(text: str, kind: str | None) -> Any:
    """The default value that the text states, if its type is ``kind``, otherwise None.

    Always None for arrays, objects and unknown types.
    """
    match = _PLAIN_DEFAULT.search(text) or _DEFAULT.search(text)
    if not match or kind not in ("string", "number", "integer", "boolean"):
        return None
    if kind == "string":
        return match[1] if match.re is _DEFAULT else None
    try:
        value = json.loads(match[1].rstrip(".").lower())
    except ValueError:
        return None
    types: dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float)}
    return (
        value if isinstance(value, types[kind]) and isinstance(value, bool) == (kind == "boolean") else None
    )


def _parameters_in_code(source: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yields name, schema and False for each parameter that the code reads; False means optional.

    The code reads a parameter with an expression such as ``parameters.data as any[]``.
    """
    properties: dict[str, str] = {}
    for match in _PARAMETER_USE.finditer(source):
        properties[match[1]] = properties.get(match[1]) or (match[2] or "").strip()
    for name, kind in properties.items():
        yield name, _typescript_schema(kind), False


def _typescript_schema(kind: str) -> dict[str, Any]:
    if kind.endswith("[]") or kind.startswith("Array<"):
        return {"type": "array"}
    if kind.startswith("Record<"):
        return {"type": "object"}
    return {"type": kind} if kind in ("string", "number", "boolean", "object") else {}
