"""Front matter → Manifest, and Manifest ↔ the JSON document that a version keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from registry.packages import conditions, versions
from registry.packages.endpoints import read_endpoints
from registry.packages.fields import Fields
from registry.packages.frontmatter import SKILL_MD, FrontMatter
from registry.packages.manifest_parts import (
    argument_hint,
    left_in_groups,
    read_resources,
    read_security,
    read_triggers,
    split_tools,
    split_words,
)
from registry.packages.naming import NAME_CHARACTERS, Origin, first_paragraph, slug_of
from registry.packages.package import TYPES, Manifest, Resources, Security, Triggers
from registry.packages.paths import shown
from registry.packages.problems import Problem, problem

_PARTS = {"triggers": Triggers, "security": Security, "resources": Resources}


@dataclass(frozen=True)
class Reading:
    """A manifest and what was wrong with its fields."""

    manifest: Manifest
    problems: tuple[Problem, ...]


def read_manifest(front: FrontMatter, origin: Origin) -> Reading:
    """Every field of documents C, D and E; a wrong one is a problem and takes its default."""
    problems: list[Problem] = list(front.problems)
    fields = Fields(front, problems, front.values)
    known = {**_identity(fields, origin), **_catalogue(fields), **_running(fields), **_prompting(fields)}
    if front.is_broken:
        problems = [one for one in problems if one in front.problems or not _follows(one, front)]
    return Reading(Manifest(**known, extra=fields.left | left_in_groups(fields)), tuple(problems))


def _follows(found: Problem, front: FrontMatter) -> bool:
    """Whether it is said only because front matter is broken: what is unreadable is not missing too."""
    missing = found.code in ("NAME_MISSING", "DESCRIPTION_MISSING")
    return found.severity == "notice" or (
        missing and (not front.values or found.params["field"] in front.unread)
    )


def _identity(fields: Fields, origin: Origin) -> dict[str, Any]:
    name = fields.text("name")
    if not name and (name := origin.name):
        fields.note("NAME_FROM_FOLDER", "name", name=shown(name))
    elif not name:
        fields.note("NAME_MISSING", "name")
    slug = slug_of(name, origin)
    if len(name) > NAME_CHARACTERS:
        fields.note("NAME_TOO_LONG", "name", length=len(name), limit=NAME_CHARACTERS)
    elif name and slug != name:
        fields.note("NAME_NOT_SLUG", "name", name=shown(name), slug=slug)
    display_name = fields.text("displayName", "display_name", "display-name")
    if len(display_name) > NAME_CHARACTERS:
        spelling = fields.written("displayName", "display_name", "display-name")
        fields.note("NAME_TOO_LONG", spelling, length=len(display_name), limit=NAME_CHARACTERS)
    version, written = _version(fields)
    return {
        "name": name,
        "slug": slug,
        "display_name": display_name or name,
        "description": _description(fields),
        "version": version,
        "version_as_written": written,
    }


def _description(fields: Fields) -> str:
    if description := fields.text("description"):
        return description
    paragraph, line = first_paragraph(fields.front.body)
    if not paragraph:
        fields.note("DESCRIPTION_MISSING", "description")
    else:
        place = fields.front.body_line + line
        fields.problems.append(problem("DESCRIPTION_FROM_BODY", path=SKILL_MD, line=place))
    return paragraph


def _version(fields: Fields) -> tuple[str | None, str | None]:
    """As semver and as written; ``metadata.version`` counts where ``version`` is not said."""
    source, written = fields, fields.text("version")
    metadata = fields.values.get("metadata")
    if not written and isinstance(metadata, dict):
        source = Fields(fields.front, fields.problems, metadata, ("metadata",))
        written = source.text("version")
    if not written:
        return None, None
    version = versions.normalise(written)
    if version is None:
        source.note("VERSION_INVALID", "version", written=shown(written))
    elif version != written:
        source.note("VERSION_NORMALISED", "version", written=shown(written), version=version)
    return version, written[: versions.LENGTH]


def _catalogue(fields: Fields) -> dict[str, Any]:
    return {
        "type": fields.choice("type", options=TYPES),
        "capabilities": fields.texts("capabilities"),
        "tags": fields.texts("tags"),
        "keywords": fields.texts("keywords"),
        "domain": fields.text("domain"),
        "category": fields.text("category"),
        "triggers": read_triggers(fields),
        "license": fields.text("license", "licence"),
        "compatibility": fields.text("compatibility"),
        "metadata": fields.mapping("metadata") or {},
    }


def _running(fields: Fields) -> dict[str, Any]:
    requires_filesystem = fields.value("requires_filesystem", "requiresFilesystem")
    security = read_security(fields)
    return {
        "input_schema": fields.mapping("input_schema", "inputSchema"),
        "output_schema": fields.mapping("output_schema", "outputSchema"),
        "protocol": cast(
            Literal["vcp", "abp"], fields.choice("protocol", options=("vcp", "abp")) or _protocol(fields)
        ),
        "abp": fields.mapping("abp"),
        "security": security,
        "resources": read_resources(fields),
        "cacheable": fields.boolean("cacheable"),
        "cache_scope": fields.choice("cache_scope", "cacheScope", options=("caller", "team")) or "caller",
        "ttl": fields.integer("ttl", low=0),
        "requires": fields.texts("requires", split=split_words),
        "endpoints": read_endpoints(fields),
        "requires_filesystem": fields.boolean("requires_filesystem", "requiresFilesystem")
        if requires_filesystem is not None
        else bool(_nested(fields, "security", "requires_filesystem")),
        "retry_on_lost": fields.boolean("retry_on_lost", "retryOnLost"),
    }


def _protocol(fields: Fields) -> str:
    """An ``abp`` mapping says which protocol is meant, where ``protocol`` does not."""
    return "abp" if isinstance(fields.values.get("abp"), dict) and "protocol" not in fields.values else "vcp"


def _nested(fields: Fields, group: str, name: str) -> Any:
    inner = fields.values.get(group)
    return inner.get(name) is True if isinstance(inner, dict) else False


def _prompting(fields: Fields) -> dict[str, Any]:
    return {
        "when_to_use": fields.text("when_to_use", "when-to-use", "whenToUse"),
        "allowed_tools": fields.texts("allowed-tools", "allowedTools", "allowed_tools", split=split_tools),
        "argument_hint": argument_hint(fields),
        "arguments": fields.texts("arguments", split=split_words),
        "model": fields.text("model"),
        "effort": fields.text("effort"),
        "runtime": fields.text("runtime"),
        "context": fields.choice("context", options=("inline", "fork")) or "inline",
        "agent": fields.text("agent"),
        "user_invocable": fields.boolean("user-invocable", "userInvocable", "user_invocable", default=True),
        "disable_model_invocation": fields.boolean(
            "disable-model-invocation", "disableModelInvocation", "disable_model_invocation"
        ),
        "paths": fields.texts("paths", split=conditions.split),
        "hooks": fields.value("hooks"),
        "shell": fields.value("shell"),
    }


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """The JSON document of a manifest: every field, tuples as lists."""
    return {field.name: _as_json(getattr(manifest, field.name)) for field in dataclasses.fields(manifest)}


def _as_json(value: Any) -> Any:
    if isinstance(value, (Triggers, Security, Resources)):
        return {field.name: _as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return list(value) if isinstance(value, tuple) else value


def manifest_of(document: Mapping[str, Any]) -> Manifest:
    """The manifest of a stored document; fields that another release added or dropped do no harm."""
    values = {name: _part(name, value) for name, value in document.items()}
    return Manifest(**_known(Manifest, values))


def _part(name: str, value: Any) -> Any:
    return _PARTS[name](**_known(_PARTS[name], value)) if name in _PARTS else value


def _known(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that this kind has, lists as tuples where its fields are tuples."""
    return {
        field.name: tuple(values[field.name]) if field.default == () else values[field.name]
        for field in dataclasses.fields(kind)
        if field.name in values
    }
