"""The needs of a version's scripts. Each need has a state, which shows whether the version provides it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from packaging.utils import canonicalize_name

from registry.additions.additions import Additions, additions_of
from registry.models import Version
from registry.packages.compare.permission_set import covers_host
from registry.packages.manifest.manifest import manifest_of
from registry.packages.needs import ModuleNeed, ScriptNeeds
from registry.packages.needs.programs import product_of
from registry.packages.package import Manifest

NeedKind = Literal["module", "program", "host", "secret"]
NeedState = Literal["provided", "added", "missing", "unknown"]
NEED_KINDS: tuple[str, ...] = get_args(NeedKind)
NEED_STATES: tuple[str, ...] = get_args(NeedState)


@dataclass(frozen=True)
class Need:
    """A need of scripts, such as a module or program. ``label`` is the distribution of a module or
    the product of a program.

    ``state`` is "added" if a maintainer added the need to the version, and "unknown" for programs, because
    only a worker knows which programs it has. ``required`` is False for a module that the scripts can work
    without. ``distribution`` is "" for a module without a known distribution.
    """

    kind: NeedKind
    name: str
    label: str
    state: NeedState
    required: bool = True
    ecosystem: str = ""
    distribution: str = ""
    scripts: tuple[str, ...] = ()

    @property
    def library(self) -> str:
        """The distribution that can be added: the known distribution of a Python module, otherwise ""."""
        is_known = self.ecosystem == "python" and self.distribution
        return str(canonicalize_name(self.distribution)) if is_known else ""


def version_needs(version: Version, *, path: str = "") -> tuple[Need, ...]:
    """The needs of all scripts of the version, or of the script with this path; modules first."""
    additions = additions_of(version)
    return tuple(
        replace(need, state="added") if _is_added(need, additions) else need
        for need in _package_needs(version, path)
    )


def undeclared_needs(version: Version) -> tuple[Need, ...]:
    """The needs that the package does not declare, and all programs. Includes needs that additions cover."""
    return tuple(need for need in _package_needs(version) if need.state != "provided")


def _is_added(need: Need, additions: Additions) -> bool:
    if need.state == "provided":
        return False
    if need.kind == "module":
        return need.library in additions.library
    names: frozenset[str] = getattr(additions, need.kind)
    return (need.name.lower() if need.kind == "host" else need.name) in names


def _package_needs(version: Version, path: str = "") -> tuple[Need, ...]:
    manifest = manifest_of(version.manifest)
    merged: dict[tuple[str, str, str], Need] = {}
    for row in version.ordered_needs:
        if path and row.path != path:
            continue
        for need in _needs(row.needs, manifest):
            key = (need.kind, need.ecosystem, need.name)
            known = merged.get(key, need)
            merged[key] = replace(
                need, required=need.required or known.required, scripts=(*known.scripts, row.path)
            )
    return tuple(sorted(merged.values(), key=lambda need: (NEED_KINDS.index(need.kind), need.label)))


def _needs(script: ScriptNeeds, manifest: Manifest) -> Iterator[Need]:
    security = manifest.security
    allowed = frozenset(map(str.lower, security.network_allowlist)) if security.network != "none" else None
    for module in script.modules:
        yield _module_need(module)
    for program in script.programs:
        yield Need("program", program, product_of(program), "unknown")
    for host in script.hosts:
        yield Need("host", host, host, _state(allowed is not None and covers_host(host, allowed)))
    for key in script.keys:
        yield Need("secret", key, key, _state(key in security.secrets or key in security.environment))


def _module_need(module: ModuleNeed) -> Need:
    return Need(
        "module",
        module.name,
        module.distribution or module.name,
        _state(module.declared),
        required=module.required,
        ecosystem=module.ecosystem,
        distribution=module.distribution,
    )


def _state(is_provided: bool) -> NeedState:
    return "provided" if is_provided else "missing"
