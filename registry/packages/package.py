"""The immutable result of reading a package: files, manifest and problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from registry.packages.problems import Problem

if TYPE_CHECKING:
    from registry.packages.manifest.frontmatter import FrontMatter

Profile = Literal["agentskills", "apexbridge", "single-file"]
PROFILES: tuple[Profile, ...] = ("agentskills", "apexbridge", "single-file")
TYPES = ("direct", "service", "distributed", "static", "preprocessor", "internal")


@dataclass(frozen=True)
class PackageFile:
    """A regular file. ``path`` is relative to the folder of SKILL.md, in Unicode NFC, with ``/``."""

    path: str
    data: bytes
    executable: bool = False  # unpacked with mode 0755 instead of 0644


@dataclass(frozen=True)
class Triggers:
    intents: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    priority: float = 0.5  # 0 to 1, higher first


@dataclass(frozen=True)
class Security:
    """Permissions and limits of a run. ``None`` means that the site's default applies."""

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
    """The typed front matter, with the fields of all supported formats. ``extra`` has the unknown fields."""

    name: str
    slug: str
    display_name: str
    description: str
    version: str | None = None  # semver; None if missing or invalid
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
    endpoints: tuple[str, ...] = ()  # URLs of a service or distributed skill, in the order they are tried
    requires_filesystem: bool = False
    retry_on_lost: bool = False
    when_to_use: str = ""
    allowed_tools: tuple[str, ...] = ()
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    runtime: str = ""  # name of the set of programs, defined by the site, that the scripts need
    context: Literal["inline", "fork"] = "inline"
    agent: str = ""
    user_invocable: bool = True
    disable_model_invocation: bool = False
    paths: tuple[str, ...] = ()
    hooks: Any = None  # stored and displayed, never executed
    shell: Any = None
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Package:
    """A package that could be read, and its problems. Files are sorted by path; SKILL.md is at the root."""

    files: tuple[PackageFile, ...]
    manifest: Manifest
    body: str  # SKILL.md without front matter
    profile: Profile
    problems: tuple[Problem, ...]  # problems of every severity; without errors, the package can be published
    # the source of the manifest, kept because reading a large front matter again takes 0.1 s
    front_matter: FrontMatter | None = field(default=None, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    def file(self, path: str) -> PackageFile | None:
        return next((file for file in self.files if file.path == path), None)
