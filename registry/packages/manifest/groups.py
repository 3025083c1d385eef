"""Readers for the groups ``triggers``, ``security`` and ``resources``, for tool lists and argument hints."""

import ipaddress
import posixpath
import re
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Literal, cast

from registry.packages.archive.paths import printable
from registry.packages.errors import (
    ENVIRONMENT_NAME_TAKEN,
    FIELD_MISSPELLED,
    NETWORK_PATH_IGNORED,
    NETWORK_WITHOUT_HOSTS,
)
from registry.packages.manifest.fields import Fields, type_label
from registry.packages.near_misses import closest
from registry.packages.package import Resources, Security, Triggers
from registry.packages.problems import LazyMessage, gettext_noop
from registry.packages.reserved_variables import is_reserved

_HOST = re.compile(r"(?:https?://)?((?:\*\.)?[\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_IPV6 = re.compile(r"(?:https?://)?\[([0-9a-f:.]+)\](?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
DEFAULT_PRIORITY = 0.5
_MAX_COMPARED = 200  # unknown fields of a group; comparing a name takes 0.1 ms
_SECURITY = """
    timeout_ms timeoutMs memory_mb memoryMb memoryMB network network_allowlist networkAllowlist filesystem
    environment secrets requires_filesystem requiresFilesystem
"""
# The known fields of each group. Others are unknown fields.
_OTHER_FIELDS = ("profile", "config", "actions", "supported_actions", "endpoint", "endpoints", "permissions")
_KNOWN_FIELDS = {
    "security": frozenset(_SECURITY.split()),
    "permissions": frozenset({"network", "filesystem"}),
    "triggers": frozenset({"intents", "phrases", "event_types", "eventTypes", "priority"}),
    "resources": frozenset({"entry", "helpers", "references", "assets"}),
}


def read_triggers(fields: Fields) -> Triggers:
    """Reads ``triggers``: a mapping, a list of phrases (most packages) or a text with one phrase per line."""
    value = fields.values.get("triggers")
    if isinstance(value, (list, str)):
        return Triggers(phrases=fields.texts("triggers", split=lambda text: text.splitlines()))
    group = fields.group("triggers")
    priority = group.number("priority", low=0, high=1)
    return Triggers(
        intents=group.texts("intents"),
        phrases=group.texts("phrases"),
        event_types=group.texts("event_types", "eventTypes"),
        priority=DEFAULT_PRIORITY if priority is None else float(priority),
    )


def read_security(fields: Fields) -> Security:
    """Reads ``security``. The older fields ``permissions`` and ``requires_filesystem`` supply missing values.

    A list of hosts in ``security.network`` or ``permissions.network`` is always added to the allowlist.
    """
    group = fields.group("security")
    legacy = fields.group("permissions")
    hosts = _hosts(group, "network_allowlist", "networkAllowlist")
    hosts += _older_hosts(group) + _older_hosts(legacy)
    network = group.choice("network", options=("none", "allowlist")) if _is_text(group, "network") else None
    if network is None:
        network = _older_network(group) or _older_network(legacy) or "none"
    if network == "allowlist" and not hosts:
        source = group if group.values.get("network") is not None else legacy
        source.add_problem(NETWORK_WITHOUT_HOSTS.problem(), "network")
    return Security(
        timeout_ms=group.integer("timeout_ms", "timeoutMs"),
        memory_mb=group.integer("memory_mb", "memoryMb", "memoryMB"),
        network=cast(Literal["none", "allowlist"], network),
        network_allowlist=tuple(dict.fromkeys(hosts)),
        filesystem=cast(Literal["none", "read-only"], _filesystem(fields, group, legacy)),
        environment=_environment(group),
        secrets=_variables(group, "secrets"),
    )


def unknown_group_fields(fields: Fields) -> dict[str, dict[str, Any]]:
    """The unknown and invalid fields inside each group of ``_KNOWN_FIELDS``, by group name.

    Omits groups without such fields.
    """
    groups = {name: fields.values.get(name) for name in _KNOWN_FIELDS}
    unread = {
        name: {
            field: value
            for field, value in group.items()
            if field not in _KNOWN_FIELDS[name] or fields.is_rejected(name, field)
        }
        for name, group in groups.items()
        if isinstance(group, dict)
    }
    return {name: unknown for name, unknown in unread.items() if unknown}


def note_misspelled_fields(fields: Fields) -> None:
    """Adds a notice for each unknown field whose name is almost that of a known one.

    Call it after all fields were read. A field of ``security`` at the top level also counts as misspelled.
    """
    moved = {name: f"security.{name}" for name in _SECURITY.split() if "_" in name}
    top = {**moved, **{name: name for name in (*fields.known_names, *_OTHER_FIELDS)}}
    _note_misspelled(fields, top, frozenset(top) - frozenset(moved))
    for group, known in _KNOWN_FIELDS.items():
        if isinstance(fields.values.get(group), dict):
            _note_misspelled(fields.group(group), {name: f"{group}.{name}" for name in known}, known)


def _note_misspelled(fields: Fields, labels: Mapping[str, str], known: Collection[str]) -> None:
    unknown = (name for name in fields.values if name not in known)
    for name in islice(unknown, _MAX_COMPARED):
        if meant := closest(name, labels):
            problem = FIELD_MISSPELLED.problem(field=fields.label(name), known=labels[meant])
            fields.add_problem(problem, name)


def _is_text(fields: Fields, name: str) -> bool:
    return isinstance(fields.values.get(name), str)


def _hosts(fields: Fields, *names: str) -> tuple[str, ...]:
    hosts = []
    for host in fields.texts(*names):
        if ascii_host := _to_ascii_host(host):
            hosts.append(ascii_host)
            if host.rstrip("/").count("/") > (2 if "://" in host else 0):
                fields.add_problem(
                    NETWORK_PATH_IGNORED.problem(host=printable(host)), fields.spelling(*names)
                )
        else:
            fields.note_value(
                fields.spelling(*names),
                found=printable(host),
                expected=gettext_noop("a list of hosts or addresses"),
            )
    return tuple(hosts)


def _to_ascii_host(host: str) -> str:
    """The host in ASCII, so that look-alike letters can't mislead approvers. "" if it is invalid."""
    name = _HOST.fullmatch(host)
    if name is None or name[1].isascii():
        return host if name or _is_ipv6(host) else ""
    try:
        return host[: name.start(1)] + name[1].encode("idna").decode() + host[name.end(1) :]
    except UnicodeError:
        return ""


def _is_ipv6(host: str) -> bool:
    match = _IPV6.fullmatch(host)
    try:
        return match is not None and bool(ipaddress.IPv6Address(match[1]))
    except ValueError:
        return False


def _older_hosts(fields: Fields) -> tuple[str, ...]:
    return _hosts(fields, "network") if isinstance(fields.values.get("network"), list) else ()


def _older_network(fields: Fields) -> str | None:
    """``allowlist`` or ``none`` for older packages, which declare ``network: true|false`` or a list of hosts.

    None if the field is missing or invalid. Adds a problem for an invalid value, except for text in
    ``security``, which ``choice`` reports.
    """
    value = fields.value("network")
    if value is None:
        return None
    if isinstance(value, bool):
        return "allowlist" if value else "none"
    if isinstance(value, list):
        return "allowlist" if value else "none"
    if value in ("none", "allowlist"):
        return str(value)
    if fields.key_path != ("security",) or not isinstance(value, str):
        fields.note_value(
            "network",
            found=printable(str(value)),
            expected=gettext_noop("`none` or `allowlist`"),
            severity="error" if closest(value, ("none", "allowlist")) else "warning",
        )
    return None


def _filesystem(fields: Fields, group: Fields, legacy: Fields) -> str:
    """``none`` if the package states that it needs no filesystem access, otherwise ``read-only``."""
    if choice := group.choice("filesystem", options=("none", "read-only")):
        return choice
    value = legacy.value("filesystem")
    if value is not None:
        return "none" if value in (False, "none", "") else "read-only"
    for source in (group, fields):
        for name in ("requires_filesystem", "requiresFilesystem"):
            if source.values.get(name) is False:
                return "none"
    return "read-only"


def _environment(fields: Fields) -> dict[str, str]:
    accepted = {}
    group = fields.group("environment")
    for name, value in group.values.items():
        if not _VARIABLE.fullmatch(name):
            group.note_value(
                name, found=printable(name), expected=gettext_noop("the name of an environment variable")
            )
        elif is_reserved(name):
            group.add_problem(ENVIRONMENT_NAME_TAKEN.problem(field=group.label(name)), name)
        elif isinstance(value, (dict, list)) or value is None:
            group.note_type(name, expected=gettext_noop("text"), found=LazyMessage(type_label(value)))
        else:
            accepted[name] = group.text(name)
    return accepted


def _variables(fields: Fields, name: str) -> tuple[str, ...]:
    accepted = []
    for variable in fields.texts(name):
        if _VARIABLE.fullmatch(variable):
            accepted.append(variable)
        else:
            fields.note_value(
                name,
                found=printable(variable),
                expected=gettext_noop("a list of environment variable names, such as API_KEY"),
            )
    return tuple(accepted)


def read_resources(fields: Fields) -> Resources:
    """Reads ``resources`` as normalized paths relative to SKILL.md. Does not check that they exist."""
    group = fields.group("resources")
    entry = group.text("entry")
    return Resources(
        entry=normal_path(entry) if entry else None,
        helpers=_paths(group, "helpers"),
        references=_paths(group, "references"),
        assets=_paths(group, "assets"),
    )


def _paths(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(normal_path(path) for path in fields.texts(name))


def normal_path(path: str) -> str:
    """The path in normal form: ``./scripts//a.ts`` → ``scripts/a.ts``, with ``/`` for backslashes.

    Keeps a leading ``/`` or ``..``, which leads outside the package. "" for blank text.
    """
    return posixpath.normpath(path.replace("\\", "/").strip()) if path.strip() else ""


def split_tools(text: str) -> list[str]:
    """The tools in a text, split at commas, or at white space if there are no commas.

    Separators in parentheses do not count: ``Bash(git add:*)`` is one tool.
    """
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
    """The words of a text, split at commas and white space. May contain empty strings."""
    return re.split(r"[,\s]+", text)


def argument_hint(fields: Fields) -> str:
    """The argument hint. An unquoted ``[file, mode]``, which YAML reads as a list, becomes text again."""
    value: Any = fields.value("argument-hint", "argumentHint", "argument_hint")
    if isinstance(value, list):
        return "[" + ", ".join(str(part) for part in value) + "]"
    return fields.text("argument-hint", "argumentHint", "argument_hint")
