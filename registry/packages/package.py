"""The values that the gate makes of a stranger's bytes: files, manifest, package. Frozen, without Django."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from registry.packages.problems import Problem

Profile = Literal["agentskills", "apexbridge", "single-file"]
PROFILES: tuple[Profile, ...] = ("agentskills", "apexbridge", "single-file")
TYPES = ("direct", "service", "distributed", "static", "preprocessor", "internal")


@dataclass(frozen=True)
class PackageFile:
    """One regular file: ``path`` relative to SKILL.md's folder, NFC, with ``/``; 0755 when executable."""

    path: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True)
class Triggers:
    intents: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    priority: float = 0.5  # 0 to 1, higher first


@dataclass(frozen=True)
class Security:
    """What a run may do. ``None`` means not said: the site's default holds."""

    timeout_ms: int | None = None
    memory_mb: int | None = None
    network: Literal["none", "allowlist"] = "none"
    network_allowlist: tuple[str, ...] = ()
    filesystem: Literal["none", "read-only"] = "read-only"
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resources:
    entry: str | None = None  # "scripts/execute.ts", normalised, without "./"
    helpers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """The typed front matter: every field of documents C, D and E; ``extra`` keeps the unknown ones."""

    name: str
    slug: str
    display_name: str
    description: str
    version: str | None = None  # semver, or None where the author names none
    version_as_written: str | None = None
    type: str | None = None  # one of TYPES
    capabilities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    domain: str = ""
    category: str = ""
    triggers: Triggers = field(default_factory=Triggers)
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    protocol: Literal["vcp", "abp"] = "vcp"
    abp: Mapping[str, Any] | None = None
    security: Security = field(default_factory=Security)
    resources: Resources = field(default_factory=Resources)
    cacheable: bool = False
    cache_scope: Literal["caller", "team"] = "caller"
    ttl: int | None = None  # seconds
    requires: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()  # of a service or distributed skill, in the order they are asked
    requires_filesystem: bool = False
    retry_on_lost: bool = False
    when_to_use: str = ""
    allowed_tools: tuple[str, ...] = ()
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    runtime: str = ""  # by which name the site keeps the programs that its scripts start
    context: Literal["inline", "fork"] = "inline"
    agent: str = ""
    user_invocable: bool = True
    disable_model_invocation: bool = False
    paths: tuple[str, ...] = ()
    hooks: Any = None  # kept and shown, never executed
    shell: Any = None
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Package:
    """A package that passed the gate: sorted files, SKILL.md at the root, and what its checks found."""

    files: tuple[PackageFile, ...]
    manifest: Manifest
    body: str  # SKILL.md without front matter
    profile: Profile
    problems: tuple[Problem, ...]  # of every severity; publishable when none is an error

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    def file(self, path: str) -> PackageFile | None:
        return next((file for file in self.files if file.path == path), None)
