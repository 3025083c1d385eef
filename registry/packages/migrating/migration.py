"""An old package → a conforming one, as document C's own tool does it: nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from registry.packages.checks import leads_out
from registry.packages.frontmatter import SKILL_MD, FrontMatter
from registry.packages.layout import Layout
from registry.packages.limits import Limits
from registry.packages.manifest_parts import normal_path
from registry.packages.metadata_yml import find_metadata, read_metadata
from registry.packages.migrating.code import (
    PLACEHOLDER,
    Block,
    execute_block,
    exports_execute,
    module_of,
    without,
)
from registry.packages.migrating.diff import difference
from registry.packages.migrating.filling import filled
from registry.packages.migrating.header import edited
from registry.packages.naming import Origin
from registry.packages.package import Manifest, Package, PackageFile
from registry.packages.paths import shown
from registry.packages.problems import Refused, Said, refuse
from registry.packages.problems import gettext_noop as _
from registry.packages.profiles import RUNNABLE, suffix
from registry.packages.reading import front_of, package_of

ENTRIES = ("scripts/execute.ts", "scripts/main.ts", "scripts/index.ts")  # the order of document C's loader
_MODULES = (*ENTRIES, "scripts/execute.js", "scripts/execute.py")
METADATA_KEPT = "METADATA.yml.legacy"
FOLDERS = ("scripts", "references", "assets")
_DEFAULT = Limits()


@dataclass(frozen=True)
class Migration:
    """What a package becomes; ``before`` and ``after`` are equal where there is nothing to do."""

    before: tuple[PackageFile, ...]
    after: tuple[PackageFile, ...]
    changes: tuple[Said, ...]
    package: Package  # what ``after`` is read as; not ok where its author has to go on

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """Every file as a unified diff."""
        return difference(self.before, self.after)


@dataclass(frozen=True)
class _Code:
    """The entry, its source, and the files and the body that the package has with it."""

    entry: str | None
    source: str
    body: str
    added: tuple[PackageFile, ...] = ()
    change: Said | None = None


def migrate(package: Package, *, limits: Limits = _DEFAULT) -> Migration:
    """Refuses front matter or METADATA.yml that cannot be read, and an entry that leads out."""
    front = front_of(package.files, limits)
    if not _is_old(package, front):
        return Migration(package.files, package.files, (), package)
    if front.is_broken:
        raise Refused(*(found for found in front.problems if found.severity == "error"))
    metadata = find_metadata(package.files)
    if metadata:
        read_metadata(metadata, limits)  # at reading it may be broken, here it would be lost
    code = _code(package, front)
    put, gone = _fields(package.manifest, front, code)
    skill = _skill_md(package, front, code.body, edited(front, put, gone, limits))
    files = {file.path: file for file in (*package.files, *code.added, skill)}
    kept = _free(METADATA_KEPT, files) if metadata else ""
    if metadata:
        files[kept] = replace(files.pop(metadata.path), path=kept)
    after = tuple(sorted(files.values(), key=lambda file: file.path))
    changes = _changes(code, put, gone, (metadata.path, kept) if metadata else None)
    found = package_of(Layout(after, "", ()), Origin(package.manifest.slug), limits=limits)
    return Migration(package.files, after, tuple(changes), found)


def _changes(
    code: _Code, put: Collection[str], gone: Collection[str], renamed: tuple[str, str] | None
) -> Iterator[Said]:
    if code.change:
        yield code.change
    if renamed:
        old, new = renamed
        yield Said(_("%(old)s is kept as %(new)s; what it says stands in SKILL.md."), old=old, new=new)
    if put:
        yield Said(_("SKILL.md says now: %(fields)s."), fields=shown(", ".join(put)))
    if gone:
        yield Said(_("permissions became security."))


def _is_old(package: Package, front: FrontMatter) -> bool:
    """Whether anything speaks of document C's older form; a plain skill that holds to its profile is none."""
    if find_metadata(package.files):
        return True
    if package.profile == "apexbridge":
        return not package.ok
    if package.profile == "single-file":
        return False
    return bool(execute_block(front.body)) or any(
        exports_execute(_source(package, path)) for path in ENTRIES if path in package.paths
    )


def _free(path: str, taken: Any) -> str:
    number, found = 1, path
    while found in taken:
        number += 1
        found = f"{path}.{number}"
    return found


def _code(package: Package, front: FrontMatter) -> _Code:
    """The entry that is said, the block of the text, a file of the usual names, else a placeholder."""
    said = package.manifest.resources.entry
    if said and leads_out(said):
        path, line = front.at("resources", "entry")
        raise refuse("ENTRY_UNSAFE", path=path, line=line, entry=shown(said))
    block = execute_block(front.body)
    if said and package.file(said):
        return _Code(said, _source(package, said), front.body)
    if block and not package.file(ENTRIES[0]):
        return _extracted(front, block, said)
    for path in _MODULES:
        if package.file(path):
            return _Code(path, _source(package, path), front.body)
    return _without_block(package, front, said)


def _extracted(front: FrontMatter, block: Block, said: str | None) -> _Code:
    path = said if said and said.startswith("scripts/") and said.endswith(".ts") else ENTRIES[0]
    source = module_of(block)
    change = Said(_("The code in SKILL.md became %(path)s."), path=shown(path))
    return _Code(
        path, source, without(front.body, block, path), (PackageFile(path, source.encode()),), change
    )


def _without_block(package: Package, front: FrontMatter, said: str | None) -> _Code:
    """No code in the text and no file of a usual name."""
    scripts = [path for path in package.paths if path.startswith("scripts/") and suffix(path) in RUNNABLE]
    for path in scripts:
        if exports_execute(source := _source(package, path)):
            return _Code(path, source, front.body)
    if scripts or said or package.manifest.type == "static":
        return _Code(None, "", front.body)
    change = Said(_("%(path)s is a placeholder: the old package held no code."), path=ENTRIES[0])
    added = (PackageFile(ENTRIES[0], PLACEHOLDER.encode()),)
    return _Code(ENTRIES[0], PLACEHOLDER, front.body, added, change)


def _source(package: Package, path: str) -> str:
    file = package.file(path)
    return file.data.decode("utf-8-sig", "replace") if file else ""


def _fields(manifest: Manifest, front: FrontMatter, code: _Code) -> tuple[dict[str, Any], set[str]]:
    """What the front matter is to say besides, and what of it goes."""
    put = dict(front.beside.values) if front.beside else {}
    found = filled(manifest, front.values, front.body, code.source)
    gone = {"permissions"} & front.values.keys() if "security" in found else set()
    put |= found
    resources = _resources(front.values.get("resources"), code.entry)
    if resources is not None:
        put["resources"] = resources
    return {name: value for name, value in put.items() if name not in gone}, gone


def _resources(said: Any, entry: str | None) -> dict[str, Any] | None:
    """The group with its entry; None where it may stay as it is."""
    if said is not None and not isinstance(said, dict):
        return None
    now = said or {}
    if entry is None or normal_path(str(now.get("entry") or "")) == entry:
        return {} if said is None else None
    rest = {name: value for name, value in now.items() if name != "entry"}
    return {"entry": f"./{entry}", **rest}


def _skill_md(package: Package, front: FrontMatter, body: str, header: str) -> PackageFile:
    file = package.file(SKILL_MD)
    assert file
    end = "\r\n" if b"\r\n" in file.data else "\n"
    head = f"---\n{header}---\n" + ("" if front.header else "\n")
    return replace(file, data=(head.replace("\n", end) + body).encode())
