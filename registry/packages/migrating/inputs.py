"""The schemas of an old package: of its ABP tool, else the list of its text, else what its code reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.packages.sections import PARAMETERS, headings, prose

_MOST = 200  # properties
_ROW = re.compile(
    r" {0,3}[-*+][ \t]{1,9}(?P<mark>[`*]{0,3})(?P<name>[A-Za-z_]\w{0,63})[`*]{0,3}[ \t]{0,9}"
    r"(?:[(（](?P<about>[^()（）]{0,200})[)）])?[ \t]{0,9}(?:[:：—–-][ \t]{0,9})?(?P<text>.*)"
)
_READ = re.compile(
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
_ABP_KEPT = (
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
    """A schema of an object; nothing is known of it where neither tool, text nor code say anything."""
    return _of_tool(abp) or _object(_listed(body)) or _object(_read(source)) or {"type": "object"}


def output_schema(abp: Mapping[str, Any] | None, source: str) -> dict[str, Any]:
    """What the one ABP tool returns; an object where the code says so; else empty, which fits anything."""
    returns = (_only_tool(abp) or {}).get("returns")
    if isinstance(returns, Mapping) and isinstance(returns.get("type"), str):
        return {key: returns[key] for key in ("type", "description") if isinstance(returns.get(key), str)}
    return {"type": "object"} if re.search(r"format\s{0,9}:\s{0,9}['\"]object['\"]", source) else {}


def _only_tool(abp: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    tools = (abp or {}).get("tools")
    only = tools[0] if isinstance(tools, list) and len(tools) == 1 else None
    return only if isinstance(only, Mapping) else None


def _of_tool(abp: Mapping[str, Any] | None) -> dict[str, Any] | None:
    parameters = (_only_tool(abp) or {}).get("parameters")
    if not isinstance(parameters, Mapping):
        return None
    rows = []
    for name, one in parameters.items():
        if isinstance(one, Mapping):
            kept = {key: one[key] for key in _ABP_KEPT if key in one}
            rows.append((name, {"type": one.get("type", "string"), **kept}, one.get("required") is True))
    return _object(rows)


def _object(rows: Any) -> dict[str, Any] | None:
    found = {name: (rule, required) for name, rule, required in list(rows)[:_MOST]}
    if not found:
        return None
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: rule for name, (rule, _) in found.items()},
    }
    if needed := [name for name, (_, required) in found.items() if required]:
        schema["required"] = needed
    return schema


def _listed(body: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """``- `name` (type, required): text`` below a heading for parameters."""
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
    said = [part.strip().lower() for part in re.split(r"[,，、;；|]", about)]
    kind = next((_KINDS[part] for part in said if part in _KINDS), None)
    rule: dict[str, Any] = {"type": kind} if kind else {}
    if text:
        rule["description"] = text[:1000]
    whole = f"{about} {text}"
    default = _default(whole, kind)
    if default is not None:
        rule["default"] = default
    return rule, bool(_REQUIRED.search(whole) and not _OPTIONAL.search(whole) and default is None)


def _default(text: str, kind: str | None) -> Any:
    """The default that the text names, when it is of the type that it names too."""
    match = _PLAIN_DEFAULT.search(text) or _DEFAULT.search(text)
    if not match or kind not in ("string", "number", "integer", "boolean"):
        return None
    if kind == "string":
        return match[1] if match.re is _DEFAULT else None
    try:
        value = json.loads(match[1].rstrip(".").lower())
    except ValueError:
        return None
    wanted: dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float)}
    return (
        value if isinstance(value, wanted[kind]) and isinstance(value, bool) == (kind == "boolean") else None
    )


def _read(source: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """``parameters.data as any[]``."""
    found: dict[str, str] = {}
    for match in _READ.finditer(source):
        found[match[1]] = found.get(match[1]) or (match[2] or "").strip()
    for name, kind in found.items():
        yield name, _of_typescript(kind), False


def _of_typescript(kind: str) -> dict[str, Any]:
    if kind.endswith("[]") or kind.startswith("Array<"):
        return {"type": "array"}
    if kind.startswith("Record<"):
        return {"type": "object"}
    return {"type": kind} if kind in ("string", "number", "boolean", "object") else {}
