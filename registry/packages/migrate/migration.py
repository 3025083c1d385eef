"""Migrates an older ApexBridge package in memory."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from registry.packages.archive.layout import Layout
from registry.packages.archive.paths import printable
from registry.packages.checks.package_checks import escapes_package
from registry.packages.checks.profiles import RUNNABLE, suffix
from registry.packages.errors import ENTRY_UNSAFE, FIELD_MISSPELLED
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter
from registry.packages.manifest.groups import normal_path
from registry.packages.manifest.metadata_yml import find_metadata, read_metadata
from registry.packages.manifest.naming import Origin
from registry.packages.migrate.code import (
    PLACEHOLDER,
    Block,
    execute_block,
    exports_execute,
    module_of,
    replace_block,
)
from registry.packages.migrate.diff import unified_diff
from registry.packages.migrate.header import edit_header, with_header
from registry.packages.migrate.required_fields import fill_required
from registry.packages.package import Package, PackageFile
from registry.packages.problems import LazyMessage, Refusal
from registry.packages.problems import gettext_noop as _
from registry.packages.read_package import build_package, read_front_matter

# in the order in which the original loader tries them
ENTRIES = ("scripts/execute.ts", "scripts/main.ts", "scripts/index.ts")
_MODULES = (*ENTRIES, "scripts/execute.js", "scripts/execute.py")
LEGACY_METADATA = "METADATA.yml.legacy"
FOLDERS = ("scripts", "references", "assets")
_DEFAULT = Limits()


@dataclass(frozen=True)
class Migration:
    """The result of a migration. ``before`` and ``after`` are equal if nothing changed."""

    before: tuple[PackageFile, ...]
    after: tuple[PackageFile, ...]
    changes: tuple[LazyMessage, ...]
    package: Package  # read from ``after``; not ok if the author must still fix something

    @property
    def has_changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The unified diff from ``before`` to ``after``; "" without changes."""
        return unified_diff(self.before, self.after)


@dataclass(frozen=True)
class _Code:
    """The entry script and its source (None and "" if there is none), the new body, and added files.

    ``change`` is a message about a moved block or a placeholder.
    """

    entry: str | None
    source: str
    body: str
    added: tuple[PackageFile, ...] = ()
    change: LazyMessage | None = None


def migrate(package: Package, *, limits: Limits = _DEFAULT) -> Migration:
    """The migration of a package; without changes if the package needs none.

    Raises Refusal for unreadable front matter or METADATA.yml, an unsafe entry, or an unreadable result.
    """
    front = read_front_matter(package.files, limits)
    if not _is_old(package, front):
        return Migration(package.files, package.files, (), package)
    if front.is_broken:
        raise Refusal(*(migrated for migrated in front.problems if migrated.severity == "error"))
    metadata = find_metadata(package.files)
    if metadata:
        read_metadata(metadata, limits)  # raises for a broken METADATA.yml, whose content would be lost
    code = _find_code(package, front)
    updates, removed = _changed_fields(package, front, code)
    skill = _skill_md(package, front, code.body, edit_header(front, updates, removed, limits))
    files = {file.path: file for file in (*package.files, *code.added, skill)}
    legacy_path = _free_path(LEGACY_METADATA, files) if metadata else ""
    if metadata:
        files[legacy_path] = replace(files.pop(metadata.path), path=legacy_path)
    after = tuple(sorted(files.values(), key=lambda file: file.path))
    changes = _changes(code, updates, removed, (metadata.path, legacy_path) if metadata else None)
    migrated = build_package(Layout(after, "", ()), Origin(package.manifest.slug), limits=limits)
    return Migration(package.files, after, tuple(changes), migrated)


def missing_fields(package: Package) -> dict[str, Any]:
    """Values for the front matter fields that a migration would set, without those that need a new file.

    Raises ENTRY_UNSAFE for an entry outside the package.
    """
    front = package.front_matter
    if front is None:
        return {}
    code = _find_code(package, front)
    updates, _removed = _changed_fields(package, front, code)
    return {name: value for name, value in updates.items() if name != "resources" or not code.added}


def _changes(
    code: _Code, updates: Collection[str], removed: Collection[str], renamed: tuple[str, str] | None
) -> Iterator[LazyMessage]:
    if code.change:
        yield code.change
    if renamed:
        old, new = renamed
        yield LazyMessage(
            _("Renames the file %(old)s to %(new)s, and also copies its content to SKILL.md."),
            old=old,
            new=new,
        )
    if updates:
        yield LazyMessage(
            _("Sets these fields in SKILL.md: %(fields)s."), fields=printable(", ".join(updates))
        )
    if removed:
        yield LazyMessage(_("Replaces `permissions` with `security`."))


def _is_old(package: Package, front: FrontMatter) -> bool:
    """Whether the package has METADATA.yml or is an ApexBridge package with errors.

    Packages of the profile ``agentskills`` are also old if they contain ``execute()`` code.
    """
    if find_metadata(package.files):
        return True
    if package.profile == "apexbridge":
        return not package.ok
    if package.profile == "single-file":
        return False
    return bool(execute_block(front.body)) or any(
        exports_execute(_source(package, path)) for path in ENTRIES if path in package.paths
    )


def _free_path(path: str, taken: Any) -> str:
    number, candidate = 1, path
    while candidate in taken:
        number += 1
        candidate = f"{path}.{number}"
    return candidate


def _find_code(package: Package, front: FrontMatter) -> _Code:
    """The code from the first source that exists. Raises ENTRY_UNSAFE for an entry outside the package.

    The sources are the declared entry, the block in SKILL.md (unless ``scripts/execute.ts`` exists), files in
    ``_MODULES``, and the result of ``_without_block``.
    """
    entry = package.manifest.resources.entry
    if entry and escapes_package(entry):
        path, line = front.at("resources", "entry")
        raise ENTRY_UNSAFE.refusal(entry=printable(entry)).at(path, line)
    block = execute_block(front.body)
    if entry and package.file(entry):
        return _Code(entry, _source(package, entry), front.body)
    if block and not package.file(ENTRIES[0]):
        return _extract_block(front, block, entry)
    for path in _MODULES:
        if package.file(path):
            return _Code(path, _source(package, path), front.body)
    return _without_block(package, front, entry)


def _extract_block(front: FrontMatter, block: Block, entry: str | None) -> _Code:
    path = entry if entry and entry.startswith("scripts/") and entry.endswith(".ts") else ENTRIES[0]
    source = module_of(block)
    change = LazyMessage(_("Moves the code in SKILL.md to %(path)s."), path=printable(path))
    return _Code(
        path, source, replace_block(front.body, block, path), (PackageFile(path, source.encode()),), change
    )


def _without_block(package: Package, front: FrontMatter, entry: str | None) -> _Code:
    """The code of the first script that exports ``execute()``.

    If there is none: no code for a package that is static or has scripts or an entry, a placeholder for
    others.
    """
    scripts = [path for path in package.paths if path.startswith("scripts/") and suffix(path) in RUNNABLE]
    for path in scripts:
        if exports_execute(source := _source(package, path)):
            return _Code(path, source, front.body)
    if scripts or entry or package.manifest.type == "static":
        return _Code(None, "", front.body)
    change = LazyMessage(_("Adds %(path)s as a placeholder: the package contains no code."), path=ENTRIES[0])
    added = (PackageFile(ENTRIES[0], PLACEHOLDER.encode()),)
    return _Code(ENTRIES[0], PLACEHOLDER, front.body, added, change)


def _source(package: Package, path: str) -> str:
    file = package.file(path)
    return file.data.decode("utf-8-sig", "replace") if file else ""


def _changed_fields(package: Package, front: FrontMatter, code: _Code) -> tuple[dict[str, Any], set[str]]:
    """The front matter fields to update, and the names of those to remove.

    Sets no field that the package has under a misspelled name: its author must rename it, so that the value
    is kept.
    """
    updates = dict(front.legacy_metadata.values) if front.legacy_metadata else {}
    required = fill_required(package.manifest, front.values, front.body, code.source)
    removed = {"permissions"} & front.values.keys() if "security" in required else set()
    updates |= required
    resources = _resources(front.values.get("resources"), code.entry)
    if resources is not None:
        updates["resources"] = resources
    misspelled = {each.params["known"] for each in package.problems if each.code == FIELD_MISSPELLED.name}
    return {name: value for name, value in updates.items() if name not in removed | misspelled}, removed


def _resources(written: Any, entry: str | None) -> dict[str, Any] | None:
    """The new value of ``resources``; None if the field needs no change or is not a mapping."""
    if written is not None and not isinstance(written, dict):
        return None
    current = written or {}
    if entry is None or normal_path(str(current.get("entry") or "")) == entry:
        return {} if written is None else None
    rest = {name: value for name, value in current.items() if name != "entry"}
    return {"entry": f"./{entry}", **rest}


def _skill_md(package: Package, front: FrontMatter, body: str, header: str) -> PackageFile:
    file = package.file(SKILL_MD)
    assert file
    return replace(file, data=with_header(file.data, replace(front, body=body), header))
