"""Compares two versions of a skill: files, manifest, schemas and permissions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from registry.packages.checks.profiles import RUNNABLE, suffix
from registry.packages.compare.fields import FieldChange, compare_fields
from registry.packages.compare.permission_set import PermissionSet, permissions_of
from registry.packages.compare.schemas import SchemaChange, compare_schemas
from registry.packages.manifest.tools import tools_of
from registry.packages.package import Manifest

FileKind = Literal["added", "removed", "changed", "renamed"]
_UNSET = "–"  # stands for the site's default


@dataclass(frozen=True)
class FileFacts:
    """A file of a version, without its content."""

    path: str
    size: int  # bytes
    digest: str
    is_text: bool
    executable: bool = False


@dataclass(frozen=True)
class Content:
    """The content of a version. ``effective`` is the manifest with the hosts and secrets that maintainers
    added.
    """

    manifest: Manifest
    files: tuple[FileFacts, ...]
    effective: Manifest | None = None
    libraries: frozenset[str] = frozenset()  # that maintainers added

    @property
    def permissions(self) -> PermissionSet:
        return permissions_of(self.effective or self.manifest)


@dataclass(frozen=True)
class FileChange:
    kind: FileKind
    before: FileFacts | None
    after: FileFacts | None

    @property
    def path(self) -> str:
        """The path in the later version, or in the earlier version if the file was removed."""
        file = self.after or self.before
        return file.path if file else ""

    @property
    def is_text(self) -> bool:
        return all(file.is_text for file in (self.before, self.after) if file)


@dataclass(frozen=True)
class AbilityChange:
    """A changed ability of a skill.

    ``broader`` is set if the later version can, or may be able to, do more than the earlier one.
    """

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    broader: bool


@dataclass(frozen=True)
class ToolChange:
    """The changed parameters of an ABP tool that both versions have."""

    tool: str
    changes: tuple[SchemaChange, ...]


@dataclass(frozen=True)
class Comparison:
    files: tuple[FileChange, ...]
    fields: tuple[FieldChange, ...]
    abilities: tuple[AbilityChange, ...]
    added_permissions: PermissionSet  # empty if no new approval is needed
    inputs: tuple[SchemaChange, ...]
    outputs: tuple[SchemaChange, ...]
    tools: tuple[ToolChange, ...]

    @property
    def is_breaking(self) -> bool:
        """Whether a change of inputs, outputs or ABP tools is breaking. Unclear changes do not count."""
        schemas = (self.inputs, self.outputs, *(tool.changes for tool in self.tools))
        return any(change.effect == "breaking" for changes in schemas for change in changes)

    @property
    def same_permissions(self) -> bool:
        return not (self.abilities or self.inputs or self.outputs or self.tools)


def compare(before: Content, after: Content) -> Comparison:
    old, new = before.manifest, after.manifest
    return Comparison(
        files=compare_files(before.files, after.files),
        fields=compare_fields(old, new),
        abilities=tuple(_compare_abilities(before, after)),
        added_permissions=after.permissions.beyond(before.permissions),
        inputs=compare_schemas(old.input_schema, new.input_schema, "input"),
        outputs=compare_schemas(old.output_schema, new.output_schema, "output"),
        tools=tuple(_compare_tools(old, new)),
    )


def compare_files(before: tuple[FileFacts, ...], after: tuple[FileFacts, ...]) -> tuple[FileChange, ...]:
    """The changed files, sorted by path.

    A removed file that is not empty counts as renamed if an added file has the same content.
    """
    old, new = {file.path: file for file in before}, {file.path: file for file in after}
    removed = {file.digest: file for file in reversed(before) if file.path not in new and file.size}
    changes = []
    for file in after:
        previous = old.get(file.path)
        if previous is None and (renamed := removed.pop(file.digest, None)):
            changes.append(FileChange("renamed", renamed, file))
        elif previous is None:
            changes.append(FileChange("added", None, file))
        elif (previous.digest, previous.executable) != (file.digest, file.executable):
            changes.append(FileChange("changed", previous, file))
    moved = {change.before.path for change in changes if change.kind == "renamed" and change.before}
    changes += [FileChange("removed", file, None) for file in before if file.path not in {*new, *moved}]
    return tuple(sorted(changes, key=lambda change: change.path))


def _compare_abilities(before: Content, after: Content) -> Iterator[AbilityChange]:
    old, new = before.manifest, after.manifest
    previous, now = before.permissions, after.permissions
    beyond = now.beyond(previous)
    for about in ("hosts", "filesystem", "environment", "secrets", "tools", "skills", "hooks", "shell"):
        yield from _compare_sets(
            about, getattr(previous, about), getattr(now, about), more=bool(getattr(beyond, about))
        )
    for about in ("timeout_ms", "memory_mb"):
        yield from _compare_limits(about, getattr(old.security, about), getattr(new.security, about))
    for about, left, right in (
        ("scripts", _scripts(before), _scripts(after)),
        ("libraries", before.libraries, after.libraries),
        ("abp_tools", frozenset(_tools_of(old)), frozenset(_tools_of(new))),
    ):
        yield from _compare_sets(about, left, right, more=bool(right - left))
    for about, first, then in (
        ("entry", old.resources.entry, new.resources.entry),
        ("type", old.type, new.type),
        ("protocol", old.protocol, new.protocol),
        ("context", old.context, new.context),
    ):
        if first != then:
            yield AbilityChange(about, (then or _UNSET,), (first or _UNSET,), broader=bool(then))


def _compare_sets(
    about: str, previous: frozenset[str], now: frozenset[str], *, more: bool
) -> Iterator[AbilityChange]:
    if previous != now:
        yield AbilityChange(about, tuple(sorted(now - previous)), tuple(sorted(previous - now)), more)


def _compare_limits(about: str, previous: int | None, now: int | None) -> Iterator[AbilityChange]:
    """Yields a changed limit, as broader if it was raised or if one value is the site's default."""
    if previous != now:
        more = previous is None or now is None or now > previous
        yield AbilityChange(about, (_limit_text(now),), (_limit_text(previous),), more)


def _limit_text(limit: int | None) -> str:
    return _UNSET if limit is None else str(limit)


def _scripts(content: Content) -> frozenset[str]:
    paths = (file.path for file in content.files)
    return frozenset(path for path in paths if path.startswith("scripts/") and suffix(path) in RUNNABLE)


def _tools_of(manifest: Manifest) -> dict[str, Mapping[str, Any]]:
    return {tool.name: tool.schema for tool in tools_of(manifest.abp)}


def _compare_tools(before: Manifest, after: Manifest) -> Iterator[ToolChange]:
    old, new = _tools_of(before), _tools_of(after)
    for name in new:
        if name in old and (changes := compare_schemas(old[name], new[name], "input")):
            yield ToolChange(name, changes)
