"""Node: package.json and the lock beside it; the lock alone says what is installed, each by its digest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop, problem

MOST = 1000  # packages of a lock
_FILE_BYTES, _LOCK_BYTES = 65_536, 2 << 20
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
_FOLDERS = ("", "scripts/")
_GROUPS = ("dependencies", "optionalDependencies", "peerDependencies")
_NAME = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
_PLACE = re.compile(rf"(?:node_modules/{_NAME}/)*node_modules/({_NAME})", re.IGNORECASE)
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,99}")
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_RANGE = re.compile(r"[0-9A-Za-z.+*^~<>=| -]{0,200}")  # a range of versions, or a tag: no address
_ALLOWED = frozenset(
    {"version", "resolved", "integrity", "dependencies", "optionalDependencies", "peerDependencies"}
    | {"optional", "dev", "devOptional", "peer", "engines", "os", "cpu", "libc", "bin", "license"}
    | {"hasInstallScript", "deprecated", "funding", "peerDependenciesMeta"}
)
_KEPT = (
    *("name", "version", "integrity", "dependencies", "optionalDependencies", "peerDependencies"),
    *("peerDependenciesMeta", "overrides", "optional", "devOptional", "peer", "engines", "os", "cpu", "libc"),
)


@dataclass(frozen=True)
class NodePackage:
    """One entry of a lock; ``place`` is its folder, ``integrity`` what its archive must hash to."""

    place: str
    name: str
    version: str
    integrity: str

    @property
    def archive(self) -> str:
        """The archive's path below a registry, which its name and version alone give."""
        return f"{self.name}/-/{self.name.rpartition('/')[2]}-{self.version}.tgz"


@dataclass(frozen=True)
class NodeLock:
    """What of the two files says what is installed: no script, no address, nothing for development."""

    manifest: Mapping[str, Any]  # of package.json
    entries: Mapping[str, Mapping[str, Any]]  # of the lock, by place
    packages: tuple[NodePackage, ...]


@dataclass(frozen=True)
class Node:
    lock: NodeLock | None = None
    problems: tuple[Problem, ...] = ()


def read_node(files: Sequence[PackageFile]) -> Node:
    """The lock of the package; nothing where no script needs it or package.json names no dependency."""
    by_path = {file.path: file for file in files}
    if not any(path.startswith("scripts/") and path.endswith(_SCRIPTS) for path in by_path):
        return Node()
    for folder in _FOLDERS:
        manifest = by_path.get(f"{folder}package.json")
        if manifest is not None:
            return _read(manifest, by_path.get(f"{folder}package-lock.json"))
    return Node()


def _read(manifest: PackageFile, lock: PackageFile | None) -> Node:
    document = _document(manifest, _FILE_BYTES)
    if isinstance(document, Problem):
        return Node(problems=(document,))
    wrong = [found for group in _GROUPS for found in _named(manifest.path, document.get(group))]
    wrong += _overridden(manifest.path, document.get("overrides"))
    if wrong or not (document.get("dependencies") or document.get("optionalDependencies")):
        return Node(problems=tuple(wrong))
    if lock is None:
        return Node(problems=(problem("DEPENDENCY_LOCK_MISSING", path=manifest.path),))
    locked = _document(lock, _LOCK_BYTES)
    return Node(problems=(locked,)) if isinstance(locked, Problem) else _locked(document, lock, locked)


def _document(file: PackageFile, most: int) -> dict[str, Any] | Problem:
    if len(file.data) > most:
        return problem("DEPENDENCY_FILE_LARGE", path=file.path, limit=most)
    try:
        document = json.loads(file.data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return _invalid(file.path, file.path, gettext_noop("it is no JSON object"))
    return document


def _named(path: str, group: object) -> Iterator[Problem]:
    """What a dependency may be given as: a range of versions, never an address, folder or repository."""
    if group is not None and not isinstance(group, Mapping):
        yield _invalid(path, "dependencies", gettext_noop("it is no JSON object"))
        return
    for name, wanted in (group or {}).items():
        if not isinstance(wanted, str) or not _RANGE.fullmatch(wanted):
            yield _elsewhere(path, f"{name}: {wanted}")


def _overridden(path: str, overrides: object) -> Iterator[Problem]:
    """The same of ``overrides``, which may lie within one another and say ``$name`` for one that is named."""
    groups = [overrides]
    while groups:
        group = groups.pop()
        if isinstance(group, Mapping):
            groups += [each for each in group.values() if isinstance(each, Mapping)]
            plain = {name: each for name, each in group.items() if not isinstance(each, Mapping)}
            yield from _named(path, {name: str(each).removeprefix("$") for name, each in plain.items()})


def _locked(manifest: Mapping[str, Any], lock: PackageFile, document: Mapping[str, Any]) -> Node:
    entries = document.get("packages")
    if not isinstance(entries, Mapping) or document.get("lockfileVersion") not in (2, 3):
        reason = gettext_noop("it is no lock of version 2 or 3")
        return Node(problems=(_invalid(lock.path, "lockfileVersion", reason),))
    if len(entries) > MOST + 1:
        many = problem("DEPENDENCIES_TOO_MANY", path=lock.path, count=len(entries) - 1, limit=MOST)
        return Node(problems=(many,))
    read = [_entry(lock.path, place, entry) for place, entry in entries.items() if place]
    hosts = {_host(entry) for place, entry in entries.items() if place and isinstance(entry, Mapping)} - {""}
    problems = [each for each in read if isinstance(each, Problem)]
    if len(hosts) > 1:
        problems.append(_elsewhere(lock.path, ", ".join(sorted(hosts))))
    if problems:
        return Node(problems=tuple(problems[:20]))
    packages = tuple(each for each in read if isinstance(each, NodePackage))
    kept = {each.place: _bare(entries[each.place]) for each in packages if not entries[each.place].get("dev")}
    return Node(NodeLock(_bare(manifest), kept, tuple(each for each in packages if each.place in kept)))


def _bare(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in _KEPT if name in entry}


def _entry(path: str, place: str, entry: object) -> NodePackage | Problem:
    match = _PLACE.fullmatch(place)
    if not isinstance(entry, Mapping) or not match:
        return _elsewhere(path, place)
    version, resolved = entry.get("version"), entry.get("resolved")
    if not isinstance(version, str) or not _VERSION.fullmatch(version) or set(entry) - _ALLOWED:
        return _elsewhere(path, place)  # link, inBundle, name: something else than what it says lies there
    integrity = entry.get("integrity")
    if not isinstance(integrity, str) or not _INTEGRITY.fullmatch(integrity):
        return _invalid(path, place, gettext_noop("it has no sha512 digest"))
    found = NodePackage(place, match[1], version, integrity)
    if resolved is not None and not _is_of_registry(resolved, found):
        return _elsewhere(path, f"{place}: {resolved}")
    return found


def _is_of_registry(resolved: object, package: NodePackage) -> bool:
    """Whether the address is that of this very package in some registry; which one, the site says."""
    if not isinstance(resolved, str):
        return False
    try:
        parts = urlsplit(resolved)
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    return parts.scheme == "https" and plain and parts.path.endswith(f"/{package.archive}")


def _host(entry: Mapping[str, Any]) -> str:
    resolved = entry.get("resolved")
    try:
        return urlsplit(resolved).netloc if isinstance(resolved, str) else ""
    except ValueError:
        return ""


def _elsewhere(path: str, text: str) -> Problem:
    return problem("DEPENDENCY_ELSEWHERE", path=path, text=ascii(text[:120])[1:-1])


def _invalid(path: str, text: str, reason: str) -> Problem:
    return problem("DEPENDENCY_INVALID", path=path, text=text, reason=reason)
