"""Reads package.json and package-lock.json. The lock file alone determines packages and digests."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from registry.packages.archive.paths import printable
from registry.packages.dependencies import errors
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, gettext_noop

MAX_PACKAGES = 1000  # per lock file
_FILE_BYTES, _LOCK_BYTES = 65_536, 2 << 20
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
_FOLDERS = ("", "scripts/")
_GROUPS = ("dependencies", "optionalDependencies", "peerDependencies")
_NAME = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
_INSTALL_PATH = re.compile(rf"(?:node_modules/{_NAME}/)*node_modules/({_NAME})", re.IGNORECASE)
_PACKAGE_NAME = re.compile(_NAME, re.IGNORECASE)
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,99}")
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_RANGE = r"[0-9A-Za-z.+*^~<>=| -]{0,200}"  # a version range or a tag, not a URL
_REQUIREMENT = re.compile(rf"{_RANGE}|npm:{_NAME}(?:@{_RANGE})?", re.IGNORECASE)  # npm: is an alias
_ALLOWED = frozenset(
    {"name", "version", "resolved", "integrity", "dependencies", "optionalDependencies", "peerDependencies"}
    | {"optional", "dev", "devOptional", "peer", "engines", "os", "cpu", "libc", "bin", "license"}
    | {"hasInstallScript", "deprecated", "funding", "peerDependenciesMeta"}
)
_KEPT_FIELDS = (
    *("name", "version", "integrity", "dependencies", "optionalDependencies", "peerDependencies"),
    *("peerDependenciesMeta", "overrides", "optional", "devOptional", "peer", "engines", "os", "cpu", "libc"),
)


@dataclass(frozen=True)
class NodePackage:
    """A package in a lock file. ``install_path`` is its folder, ``integrity`` the SHA-512 of its archive."""

    install_path: str
    name: str
    version: str
    integrity: str

    @property
    def archive(self) -> str:
        """The path of the archive in a registry, such as ``lodash/-/lodash-4.17.21.tgz``."""
        return f"{self.name}/-/{self.name.rpartition('/')[2]}-{self.version}.tgz"


@dataclass(frozen=True)
class NodeLock:
    """The parts of package.json and the lock file that determine the installation.

    Omits scripts, URLs and dev packages.
    """

    manifest: Mapping[str, Any]  # parts of package.json
    entries: Mapping[str, Mapping[str, Any]]  # entries of the lock file by install path
    packages: tuple[NodePackage, ...]


@dataclass(frozen=True)
class NodeResult:
    lock: NodeLock | None = None
    problems: tuple[Problem, ...] = ()


def read_node(files: Sequence[PackageFile], programs: Set[str] = frozenset()) -> NodeResult:
    """The dependencies to install, or problems.

    ``lock`` is None if no script is JavaScript or TypeScript, if package.json has no dependency, or if
    there is any problem. ``programs`` are the paths of scripts outside ``scripts/``.
    """
    by_path = {file.path: file for file in files}
    code = [path for path in by_path if path.endswith(_SCRIPTS)]
    elsewhere = sorted(path for path in code if path in programs)
    if not elsewhere and not any(path.startswith("scripts/") for path in code):
        return NodeResult()
    for folder in (*_FOLDERS, *(f"{PurePosixPath(path).parent}/" for path in elsewhere)):
        manifest = by_path.get(f"{folder}package.json")
        if manifest is not None:
            return _read(manifest, by_path.get(f"{folder}package-lock.json"))
    return NodeResult()


def _read(manifest: PackageFile, lock: PackageFile | None) -> NodeResult:
    document = _document(manifest, _FILE_BYTES)
    if isinstance(document, Problem):
        return NodeResult(problems=(document,))
    problems = [found for group in _GROUPS for found in _check_group(manifest.path, document.get(group))]
    problems += _check_overrides(manifest.path, document.get("overrides"))
    if problems or not (document.get("dependencies") or document.get("optionalDependencies")):
        return NodeResult(problems=tuple(problems))
    if lock is None:
        return NodeResult(problems=(errors.DEPENDENCY_LOCK_MISSING.problem().at(manifest.path),))
    lock_document = _document(lock, _LOCK_BYTES)
    return (
        NodeResult(problems=(lock_document,))
        if isinstance(lock_document, Problem)
        else _read_lock(document, lock, lock_document)
    )


def _document(file: PackageFile, limit: int) -> dict[str, Any] | Problem:
    if len(file.data) > limit:
        return errors.DEPENDENCY_FILE_LARGE.problem(limit=limit).at(file.path)
    try:
        document = json.loads(file.data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return _invalid(file.path, file.path, gettext_noop("it is not a JSON object"))
    return document


def _check_group(path: str, group: object) -> Iterator[Problem]:
    """Yields a problem for each dependency that is not a version range or tag, such as a URL or folder."""
    if group is not None and not isinstance(group, Mapping):
        yield _invalid(path, "dependencies", gettext_noop("it is not a JSON object"))
        return
    for name, version_range in (group or {}).items():
        if not isinstance(version_range, str) or not _REQUIREMENT.fullmatch(version_range):
            yield _not_from_registry(path, f"{name}: {version_range}")


def _check_overrides(path: str, overrides: object) -> Iterator[Problem]:
    """Yields problems of ``overrides``, which may be nested and refer to dependencies as ``$name``."""
    groups = [overrides]
    while groups:
        group = groups.pop()
        if isinstance(group, Mapping):
            groups += [each for each in group.values() if isinstance(each, Mapping)]
            is_plain = {name: each for name, each in group.items() if not isinstance(each, Mapping)}
            yield from _check_group(
                path, {name: str(each).removeprefix("$") for name, each in is_plain.items()}
            )


def _read_lock(manifest: Mapping[str, Any], lock: PackageFile, document: Mapping[str, Any]) -> NodeResult:
    entries = document.get("packages")
    if not isinstance(entries, Mapping) or document.get("lockfileVersion") not in (2, 3):
        reason = gettext_noop("the lock file must be of version 2 or 3")
        return NodeResult(problems=(_invalid(lock.path, "lockfileVersion", reason),))
    if len(entries) > MAX_PACKAGES + 1:
        many = errors.DEPENDENCIES_TOO_MANY.problem(count=len(entries) - 1, limit=MAX_PACKAGES).at(lock.path)
        return NodeResult(problems=(many,))
    parsed = [
        _entry(lock.path, install_path, entry) for install_path, entry in entries.items() if install_path
    ]
    hosts = {
        _host(entry) for install_path, entry in entries.items() if install_path and isinstance(entry, Mapping)
    } - {""}
    problems = [each for each in parsed if isinstance(each, Problem)]
    if len(hosts) > 1:
        problems.append(_not_from_registry(lock.path, ", ".join(sorted(hosts))))
    if problems:
        return NodeResult(problems=tuple(problems[:20]))
    packages = tuple(each for each in parsed if isinstance(each, NodePackage))
    installed = {
        each.install_path: _kept_fields(entries[each.install_path])
        for each in packages
        if not entries[each.install_path].get("dev")
    }
    return NodeResult(
        NodeLock(
            _kept_fields(manifest),
            installed,
            tuple(each for each in packages if each.install_path in installed),
        )
    )


def _kept_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in _KEPT_FIELDS if name in entry}


def _entry(path: str, install_path: str, entry: object) -> NodePackage | Problem:
    match = _INSTALL_PATH.fullmatch(install_path)
    if not isinstance(entry, Mapping) or not match:
        return _not_from_registry(path, install_path)
    version, resolved = entry.get("version"), entry.get("resolved")
    if not isinstance(version, str) or not _VERSION.fullmatch(version) or set(entry) - _ALLOWED:
        # With link or inBundle, the installed package differs from the entry.
        return _not_from_registry(path, install_path)
    integrity = entry.get("integrity")
    if not isinstance(integrity, str) or not _INTEGRITY.fullmatch(integrity):
        return _invalid(path, install_path, gettext_noop("it has no sha512 digest"))
    name = entry.get("name", match[1])  # differs from the folder's name if the folder is an alias
    if not isinstance(name, str) or not _PACKAGE_NAME.fullmatch(name):
        return _not_from_registry(path, f"{install_path}: {name}")
    found = NodePackage(install_path, name, version, integrity)
    if resolved is not None and not _is_of_registry(resolved, found):
        return _not_from_registry(path, f"{install_path}: {resolved}")
    return found


def _is_of_registry(resolved: object, package: NodePackage) -> bool:
    """Whether ``resolved`` is an HTTPS URL that ends with the package's archive path.

    Every host is accepted, because the site's settings choose the registry.
    """
    if not isinstance(resolved, str):
        return False
    try:
        parts = urlsplit(resolved)
    except ValueError:
        return False
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    return parts.scheme == "https" and is_plain and parts.path.endswith(f"/{package.archive}")


def _host(entry: Mapping[str, Any]) -> str:
    resolved = entry.get("resolved")
    try:
        return urlsplit(resolved).netloc if isinstance(resolved, str) else ""
    except ValueError:
        return ""


def _not_from_registry(path: str, text: str) -> Problem:
    return errors.DEPENDENCY_ELSEWHERE.problem(text=printable(text, 120)).at(path)


def _invalid(path: str, text: str, reason: str) -> Problem:
    return errors.DEPENDENCY_INVALID.problem(text=text, reason=reason).at(path)
