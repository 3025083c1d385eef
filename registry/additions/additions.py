"""Additions: libraries, hosts and secrets that maintainers allow for a version, because its package lacks
them.

A package never changes. A run has the permissions of its manifest and those of the additions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from registry.models import Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest

AdditionKind = Literal["library", "program", "host", "secret"]
ADDITION_KINDS: tuple[AdditionKind, ...] = get_args(AdditionKind)
Names = frozenset[str]


@dataclass(frozen=True)
class Additions:
    """The names of all additions, by kind. Programs are a note for administrators and permit nothing."""

    library: Names = frozenset()
    program: Names = frozenset()
    host: Names = frozenset()
    secret: Names = frozenset()

    def __bool__(self) -> bool:
        return any(self._names())

    def __and__(self, other: Additions) -> Additions:
        return Additions(*(own & others for own, others in zip(self._names(), other._names(), strict=True)))

    def is_covered_by(self, other: Additions) -> bool:
        """Whether ``other`` has all libraries, hosts and secrets of these additions."""
        return all(getattr(self, kind) <= getattr(other, kind) for kind in ("library", "host", "secret"))

    def document(self) -> dict[str, list[str]]:
        """The non-empty kinds with their sorted names, for storage as JSON."""
        return {kind: sorted(getattr(self, kind)) for kind in ADDITION_KINDS if getattr(self, kind)}

    def _names(self) -> tuple[Names, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))


def additions_from_document(document: Mapping[str, Iterable[str]]) -> Additions:
    return Additions(**{kind: frozenset(document.get(kind, ())) for kind in ADDITION_KINDS})


def additions_of(version: Version) -> Additions:
    return additions_from_rows(version.additions)


def additions_from_rows(rows: Iterable[Mapping[str, Any]]) -> Additions:
    """The additions in a value of ``Version.additions``."""
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row["kind"], []).append(row["name"])
    return additions_from_document(names)


def effective_manifest(version: Version) -> Manifest:
    """The version's manifest with the hosts and secrets of its additions."""
    return with_additions(manifest_of(version.manifest), additions_of(version))


def with_additions(manifest: Manifest, additions: Additions) -> Manifest:
    security = manifest.security
    if additions.host:
        declared = security.network_allowlist if security.network == "allowlist" else ()
        hosts = (*declared, *sorted(additions.host.difference(declared)))
        security = replace(security, network="allowlist", network_allowlist=hosts)
    if new := sorted(additions.secret.difference(security.secrets)):
        security = replace(security, secrets=(*security.secrets, *new))
    return replace(manifest, security=security)
