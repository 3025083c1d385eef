"""Converts front matter to a Manifest, and a Manifest to and from the JSON document stored with a version."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from registry.packages import errors, path_conditions, version_numbers
from registry.packages.archive.paths import printable
from registry.packages.manifest.endpoints import read_endpoints
from registry.packages.manifest.fields import Fields
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter
from registry.packages.manifest.groups import (
    argument_hint,
    note_misspelled_fields,
    read_resources,
    read_security,
    read_triggers,
    split_tools,
    split_words,
    unknown_group_fields,
)
from registry.packages.manifest.naming import MAX_NAME_LENGTH, Origin, first_paragraph, slug_of
from registry.packages.package import TYPES, Manifest, Resources, Security, Triggers
from registry.packages.problems import Problem

_PARTS = {"triggers": Triggers, "security": Security, "resources": Resources}


@dataclass(frozen=True)
class ManifestResult:
    """A manifest, and the problems of the front matter and its fields."""

    manifest: Manifest
    problems: tuple[Problem, ...]


def read_manifest(front: FrontMatter, origin: Origin) -> ManifestResult:
    """Reads the fields of all supported formats. An invalid field has its default value and adds a problem.

    For broken front matter, omits the problems that the broken part can explain.
    """
    problems: list[Problem] = list(front.problems)
    fields = Fields(front, problems, front.values)
    known = {
        **_identity_fields(fields, origin),
        **_catalog_fields(fields),
        **_execution_fields(fields),
        **_agent_fields(fields),
    }
    note_misspelled_fields(fields)
    if front.is_broken:
        problems = [one for one in problems if one in front.problems or not _is_consequence(one, front)]
    return ManifestResult(
        Manifest(**known, extra=fields.unknown | unknown_group_fields(fields)), tuple(problems)
    )


def _is_consequence(candidate: Problem, front: FrontMatter) -> bool:
    """Whether broken front matter can explain the problem.

    True for notices, and for a missing name or description that may be in the unreadable part.
    """
    field = _MISSING_FIELDS.get(candidate.code)
    return candidate.severity == "notice" or (
        field is not None and (not front.values or field in front.unread)
    )


_MISSING_FIELDS = {errors.NAME_MISSING.name: "name", errors.DESCRIPTION_MISSING.name: "description"}


def _identity_fields(fields: Fields, origin: Origin) -> dict[str, Any]:
    name = fields.text("name")
    if not name and (name := origin.name):
        fields.add_problem(errors.NAME_FROM_FOLDER.problem(name=printable(name)), "name")
    elif not name:
        fields.add_problem(errors.NAME_MISSING.problem(), "name")
    slug = slug_of(name, origin)
    if len(name) > MAX_NAME_LENGTH:
        fields.add_problem(errors.NAME_TOO_LONG.problem(length=len(name), limit=MAX_NAME_LENGTH), "name")
    elif name and slug != name:
        fields.add_problem(errors.NAME_NOT_SLUG.problem(name=printable(name), slug=slug), "name")
    display_name = fields.text("displayName", "display_name", "display-name")
    if len(display_name) > MAX_NAME_LENGTH:
        spelling = fields.spelling("displayName", "display_name", "display-name")
        fields.add_problem(
            errors.NAME_TOO_LONG.problem(length=len(display_name), limit=MAX_NAME_LENGTH), spelling
        )
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
        fields.add_problem(errors.DESCRIPTION_MISSING.problem(), "description")
    else:
        paragraph_line = fields.front.body_line + line
        fields.problems.append(errors.DESCRIPTION_FROM_BODY.problem().at(SKILL_MD, paragraph_line))
    return paragraph


def _version(fields: Fields) -> tuple[str | None, str | None]:
    """The version as semver (None if invalid) and as written; both None if there is no version.

    ``metadata.version`` is used if ``version`` is missing.
    """
    source, written = fields, fields.text("version")
    metadata = fields.values.get("metadata")
    if not written and isinstance(metadata, dict):
        source = Fields(fields.front, fields.problems, metadata, ("metadata",))
        written = source.text("version")
    if not written:
        return None, None
    version = version_numbers.normalise(written)
    if version is None:
        source.add_problem(errors.VERSION_INVALID.problem(written=printable(written)), "version")
    elif version != written:
        source.add_problem(
            errors.VERSION_NORMALISED.problem(written=printable(written), version=version), "version"
        )
    return version, written[: version_numbers.MAX_LENGTH]


def _catalog_fields(fields: Fields) -> dict[str, Any]:
    return {
        "type": fields.choice("type", options=TYPES, strict=True),
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


def _execution_fields(fields: Fields) -> dict[str, Any]:
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
        else bool(_nested_flag(fields, "security", "requires_filesystem")),
        "retry_on_lost": fields.boolean("retry_on_lost", "retryOnLost"),
    }


def _protocol(fields: Fields) -> str:
    """The default protocol: ``abp`` if there is an ``abp`` mapping but no ``protocol``, otherwise ``vcp``."""
    return "abp" if isinstance(fields.values.get("abp"), dict) and "protocol" not in fields.values else "vcp"


def _nested_flag(fields: Fields, group: str, name: str) -> Any:
    inner = fields.values.get(group)
    return inner.get(name) is True if isinstance(inner, dict) else False


def _agent_fields(fields: Fields) -> dict[str, Any]:
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
        "paths": fields.texts("paths", split=path_conditions.split),
        "hooks": fields.value("hooks"),
        "shell": fields.value("shell"),
    }


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """The manifest as a JSON-serializable dict of all fields, with tuples as lists."""
    return {name: _as_json(getattr(manifest, name)) for name, _is_tuple in _fields(Manifest)}


def _as_json(value: Any) -> Any:
    kind: Any = type(value)
    if kind in (Triggers, Security, Resources):
        return {name: _as_json(getattr(value, name)) for name, _is_tuple in _fields(kind)}
    return list(value) if isinstance(value, tuple) else value


def manifest_of(document: Mapping[str, Any]) -> Manifest:
    """The manifest for a dict from ``manifest_document``. Ignores unknown fields of other releases."""
    values = {name: _part(name, value) for name, value in document.items()}
    return Manifest(**_known_values(Manifest, values))


def _part(name: str, value: Any) -> Any:
    return _PARTS[name](**_known_values(_PARTS[name], value)) if name in _PARTS else value


def _known_values(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of fields that the dataclass ``kind`` has. Lists become tuples if the default is ``()``."""
    return {
        name: tuple(values[name]) if is_tuple else values[name]
        for name, is_tuple in _fields(kind)
        if name in values
    }


@cache
def _fields(kind: Any) -> Sequence[tuple[str, bool]]:
    """The names of the dataclass's fields, and whether the default is ``()``."""
    return [(field.name, field.default == ()) for field in dataclasses.fields(kind)]
