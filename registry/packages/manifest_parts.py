"""The manifest's groups: triggers, security with what older packages called permissions, resources, tools."""

from __future__ import annotations

import posixpath
import re
from typing import Any, Literal, cast

from registry.packages.fields import Fields, kind_of
from registry.packages.package import Resources, Security, Triggers
from registry.packages.paths import shown
from registry.packages.problems import Said, gettext_noop
from registry.packages.variables import is_taken

_HOST = re.compile(r"(?:https?://)?((?:\*\.)?[\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_IPV6 = re.compile(r"(?:https?://)?\[[0-9a-f:.]+\](?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
DEFAULT_PRIORITY = 0.5
_SECURITY = """
    timeout_ms timeoutMs memory_mb memoryMb memoryMB network network_allowlist networkAllowlist filesystem
    environment secrets requires_filesystem requiresFilesystem
"""
# What is read of a group; anything else that an author writes there is kept among the unknown fields.
_READ = {
    "security": frozenset(_SECURITY.split()),
    "permissions": frozenset({"network", "filesystem"}),
    "triggers": frozenset({"intents", "phrases", "event_types", "eventTypes", "priority"}),
    "resources": frozenset({"entry", "helpers", "references", "assets"}),
}


def read_triggers(fields: Fields) -> Triggers:
    """A group of fields, or a plain list of phrases, as nearly all real packages have it."""
    value = fields.values.get("triggers")
    if isinstance(value, (list, str)):
        return Triggers(phrases=fields.texts("triggers", split=lambda text: text.splitlines()))
    inner = fields.inner("triggers")
    priority = inner.number("priority", low=0, high=1)
    return Triggers(
        intents=inner.texts("intents"),
        phrases=inner.texts("phrases"),
        event_types=inner.texts("event_types", "eventTypes"),
        priority=DEFAULT_PRIORITY if priority is None else float(priority),
    )


def read_security(fields: Fields) -> Security:
    """``security``, and for what it does not say ``permissions`` and ``requires_filesystem``."""
    inner = fields.inner("security")
    older = fields.inner("permissions")
    hosts = _hosts(inner, "network_allowlist", "networkAllowlist") + _older_hosts(older)
    network = inner.choice("network", options=("none", "allowlist")) if _is_text(inner, "network") else None
    if network is None:
        network = _older_network(inner) or _older_network(older) or "none"
    if network == "allowlist" and not hosts:
        place = inner if inner.values.get("network") is not None else older
        place.note("NETWORK_WITHOUT_HOSTS", "network")
    return Security(
        timeout_ms=inner.integer("timeout_ms", "timeoutMs"),
        memory_mb=inner.integer("memory_mb", "memoryMb", "memoryMB"),
        network=cast(Literal["none", "allowlist"], network),
        network_allowlist=tuple(dict.fromkeys(hosts)),
        filesystem=cast(Literal["none", "read-only"], _filesystem(fields, inner, older)),
        environment=_environment(inner),
        secrets=_variables(inner, "secrets"),
    )


def left_in_groups(fields: Fields) -> dict[str, dict[str, Any]]:
    """The fields of those groups that nothing here knows."""
    groups = {name: fields.values.get(name) for name in _READ}
    left = {
        name: {field: value for field, value in group.items() if field not in _READ[name]}
        for name, group in groups.items()
        if isinstance(group, dict)
    }
    return {name: unknown for name, unknown in left.items() if unknown}


def _is_text(fields: Fields, name: str) -> bool:
    return isinstance(fields.values.get(name), str)


def _hosts(fields: Fields, *names: str) -> tuple[str, ...]:
    hosts = []
    for host in fields.texts(*names):
        if enforced := _as_enforced(host):
            hosts.append(enforced)
            if host.rstrip("/").count("/") > (2 if "://" in host else 0):
                fields.note("NETWORK_PATH_IGNORED", fields.written(*names), host=shown(host))
        else:
            fields.note(
                "FIELD_VALUE",
                fields.written(*names),
                found=shown(host),
                expected=gettext_noop("a list of hosts or addresses"),
            )
    return tuple(hosts)


def _as_enforced(host: str) -> str:
    """In ASCII, or "": who grants must not take letters of another alphabet for those they look like."""
    name = _HOST.fullmatch(host)
    if name is None or name[1].isascii():
        return host if name or _IPV6.fullmatch(host) else ""
    try:
        return host[: name.start(1)] + name[1].encode("idna").decode() + host[name.end(1) :]
    except UnicodeError:
        return ""


def _older_hosts(older: Fields) -> tuple[str, ...]:
    return _hosts(older, "network") if isinstance(older.values.get("network"), list) else ()


def _older_network(fields: Fields) -> str | None:
    """``network: true|false`` and lists of hosts, as older packages have it."""
    value = fields.value("network")
    if value is None:
        return None
    if isinstance(value, bool):
        return "allowlist" if value else "none"
    if isinstance(value, list):
        return "allowlist" if value else "none"
    if value in ("none", "allowlist"):
        return str(value)
    if fields.place != ("security",) or not isinstance(value, str):
        fields.note(
            "FIELD_VALUE", "network", found=shown(str(value)), expected=gettext_noop("one of none, allowlist")
        )
    return None


def _filesystem(fields: Fields, inner: Fields, older: Fields) -> str:
    """Anything that older packages asked for beyond nothing is read-only here."""
    if chosen := inner.choice("filesystem", options=("none", "read-only")):
        return chosen
    value = older.value("filesystem")
    if value is not None:
        return "none" if value in (False, "none", "") else "read-only"
    for place in (inner, fields):
        for name in ("requires_filesystem", "requiresFilesystem"):
            if place.values.get(name) is False:
                return "none"
    return "read-only"


def _environment(fields: Fields) -> dict[str, str]:
    chosen = {}
    inner = fields.inner("environment")
    for name, value in inner.values.items():
        if not _VARIABLE.fullmatch(name):
            inner.note(
                "FIELD_VALUE",
                name,
                found=shown(name),
                expected=gettext_noop("the name of an environment variable"),
            )
        elif is_taken(name):
            inner.note("ENVIRONMENT_NAME_TAKEN", name)
        elif isinstance(value, (dict, list)) or value is None:
            inner.note("FIELD_TYPE", name, expected=gettext_noop("text"), found=Said(kind_of(value)))
        else:
            chosen[name] = inner.text(name)
    return chosen


def _variables(fields: Fields, name: str) -> tuple[str, ...]:
    chosen = []
    for variable in fields.texts(name):
        if _VARIABLE.fullmatch(variable):
            chosen.append(variable)
        else:
            fields.note(
                "FIELD_VALUE",
                name,
                found=shown(variable),
                expected=gettext_noop("a list of environment variables"),
            )
    return tuple(chosen)


def read_resources(fields: Fields) -> Resources:
    """Paths relative to SKILL.md, written with or without ``./``; whether they exist is a check's matter."""
    inner = fields.inner("resources")
    entry = inner.text("entry")
    return Resources(
        entry=normal_path(entry) if entry else None,
        helpers=_paths(inner, "helpers"),
        references=_paths(inner, "references"),
        assets=_paths(inner, "assets"),
    )


def _paths(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(normal_path(path) for path in fields.texts(name))


def normal_path(path: str) -> str:
    """``./scripts//a.ts`` → ``scripts/a.ts``; what leads out keeps its ``..`` or its ``/``."""
    return posixpath.normpath(path.replace("\\", "/").strip()) if path.strip() else ""


def split_tools(text: str) -> list[str]:
    """At commas, else at spaces, both only outside parentheses: ``Bash(git add:*, git commit:*) Read``."""
    return (
        _split_outside(text, ",") if len(_split_outside(text, ",")) > 1 else _split_outside(text, " \t\r\n")
    )


def _split_outside(text: str, separators: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for character in text:
        depth = max(0, depth + (character == "(") - (character == ")"))
        if character in separators and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [part.strip() for part in (*parts, part) if part.strip()]


def split_words(text: str) -> list[str]:
    """At commas and white space."""
    return re.split(r"[,\s]+", text)


def argument_hint(fields: Fields) -> str:
    """``[file] [mode]`` unquoted is a YAML list and is read back as it was written."""
    value: Any = fields.value("argument-hint", "argumentHint", "argument_hint")
    if isinstance(value, list):
        return "[" + ", ".join(str(part) for part in value) + "]"
    return fields.text("argument-hint", "argumentHint", "argument_hint")
