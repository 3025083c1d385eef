"""Two versions of a skill held against each other: files, manifest, schemas, what the later may do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from registry.packages.comparison_fields import FieldChange, compare_fields
from registry.packages.comparison_schemas import SchemaChange, compare_schemas
from registry.packages.package import Manifest
from registry.packages.permission_set import PermissionSet, permissions_of
from registry.packages.profiles import RUNNABLE, suffix
from registry.packages.tools import tools_of

FileKind = Literal["added", "removed", "changed", "renamed"]
_UNSAID = "–"  # the site's default holds


@dataclass(frozen=True)
class FileFacts:
    """A file of a version, without its bytes."""

    path: str
    size: int  # bytes
    digest: str
    is_text: bool
    executable: bool = False


@dataclass(frozen=True)
class Content:
    """What a comparison looks at of one version."""

    manifest: Manifest
    files: tuple[FileFacts, ...]


@dataclass(frozen=True)
class FileChange:
    kind: FileKind
    before: FileFacts | None
    after: FileFacts | None

    @property
    def path(self) -> str:
        """Where it is now, else where it was."""
        file = self.after or self.before
        return file.path if file else ""

    @property
    def is_text(self) -> bool:
        return all(file.is_text for file in (self.before, self.after) if file)


@dataclass(frozen=True)
class AbilityChange:
    """One thing that a skill may do, by its name here: what held before and what holds now.

    ``more``: the later version may do something that the earlier one might not, or perhaps might not.
    """

    about: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    more: bool


@dataclass(frozen=True)
class ToolChange:
    """The parameters of one ABP tool that both versions have."""

    tool: str
    changes: tuple[SchemaChange, ...]


@dataclass(frozen=True)
class Comparison:
    files: tuple[FileChange, ...]
    fields: tuple[FieldChange, ...]
    abilities: tuple[AbilityChange, ...]
    asks_more: PermissionSet  # empty where nobody need be asked again
    inputs: tuple[SchemaChange, ...]
    outputs: tuple[SchemaChange, ...]
    tools: tuple[ToolChange, ...]

    @property
    def breaks(self) -> bool:
        """Whether somebody who calls the skill may have to change with it."""
        schemas = (self.inputs, self.outputs, *(tool.changes for tool in self.tools))
        return any(change.effect == "breaking" for changes in schemas for change in changes)

    @property
    def may_do_the_same(self) -> bool:
        return not (self.abilities or self.inputs or self.outputs or self.tools)


def compare(before: Content, after: Content) -> Comparison:
    old, new = before.manifest, after.manifest
    return Comparison(
        files=compare_files(before.files, after.files),
        fields=compare_fields(old, new),
        abilities=tuple(_abilities(before, after)),
        asks_more=permissions_of(new).beyond(permissions_of(old)),
        inputs=compare_schemas(old.input_schema, new.input_schema, "input"),
        outputs=compare_schemas(old.output_schema, new.output_schema, "output"),
        tools=tuple(_tools(old, new)),
    )


def compare_files(before: tuple[FileFacts, ...], after: tuple[FileFacts, ...]) -> tuple[FileChange, ...]:
    """By path; a file that is gone and whose bytes are elsewhere now was renamed."""
    old, new = {file.path: file for file in before}, {file.path: file for file in after}
    gone = {file.digest: file for file in reversed(before) if file.path not in new and file.size}
    changes = []
    for file in after:
        was = old.get(file.path)
        if was is None and (renamed := gone.pop(file.digest, None)):
            changes.append(FileChange("renamed", renamed, file))
        elif was is None:
            changes.append(FileChange("added", None, file))
        elif (was.digest, was.executable) != (file.digest, file.executable):
            changes.append(FileChange("changed", was, file))
    moved = {change.before.path for change in changes if change.kind == "renamed" and change.before}
    changes += [FileChange("removed", file, None) for file in before if file.path not in {*new, *moved}]
    return tuple(sorted(changes, key=lambda change: change.path))


def _abilities(before: Content, after: Content) -> Iterator[AbilityChange]:
    """Sets first, then limits, then how it is started."""
    old, new = before.manifest, after.manifest
    was, now = permissions_of(old), permissions_of(new)
    beyond = now.beyond(was)
    for about in ("hosts", "filesystem", "environment", "secrets", "tools", "skills", "hooks", "shell"):
        yield from _sets(about, getattr(was, about), getattr(now, about), more=bool(getattr(beyond, about)))
    for about in ("timeout_ms", "memory_mb"):
        yield from _limits(about, getattr(old.security, about), getattr(new.security, about))
    for about, left, right in (
        ("scripts", _scripts(before), _scripts(after)),
        ("abp_tools", frozenset(_tools_of(old)), frozenset(_tools_of(new))),
    ):
        yield from _sets(about, left, right, more=bool(right - left))
    for about, first, then in (
        ("entry", old.resources.entry, new.resources.entry),
        ("type", old.type, new.type),
        ("protocol", old.protocol, new.protocol),
        ("context", old.context, new.context),
    ):
        if first != then:
            yield AbilityChange(about, (then or _UNSAID,), (first or _UNSAID,), more=bool(then))


def _sets(about: str, was: frozenset[str], now: frozenset[str], *, more: bool) -> Iterator[AbilityChange]:
    if was != now:
        yield AbilityChange(about, tuple(sorted(now - was)), tuple(sorted(was - now)), more)


def _limits(about: str, was: int | None, now: int | None) -> Iterator[AbilityChange]:
    """Where one of them is the site's default, which this floor does not know, it may be more."""
    if was != now:
        more = was is None or now is None or now > was
        yield AbilityChange(about, (_said(now),), (_said(was),), more)


def _said(limit: int | None) -> str:
    return _UNSAID if limit is None else str(limit)


def _scripts(content: Content) -> frozenset[str]:
    paths = (file.path for file in content.files)
    return frozenset(path for path in paths if path.startswith("scripts/") and suffix(path) in RUNNABLE)


def _tools_of(manifest: Manifest) -> dict[str, Mapping[str, Any]]:
    return {tool.name: tool.schema for tool in tools_of(manifest.abp)}


def _tools(before: Manifest, after: Manifest) -> Iterator[ToolChange]:
    old, new = _tools_of(before), _tools_of(after)
    for name in new:
        if name in old and (changes := compare_schemas(old[name], new[name], "input")):
            yield ToolChange(name, changes)
