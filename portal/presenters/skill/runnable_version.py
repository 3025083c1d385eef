"""The entry points of a version, an example call, and its problems under each profile."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portal.presenters.cache import BoundedCache
from portal.presenters.skill.manifest_fields import manifest_fields
from registry.additions.additions import effective_manifest
from registry.models import Version
from registry.models.skill import INTERNAL
from registry.packages.package import PROFILES, Manifest, Package, Profile
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import problems_by_profile, stored_problems_by_profile
from registry.storage import blobs
from worker.protocols.entry_points import EntryPoints, find_entry_points

_EXAMPLES: dict[str, Any] = {
    "string": "…",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}
_MAX_RECHECK_BYTES = 8 * 2**20  # larger archives are not checked against the other profiles


@dataclass(frozen=True)
class RunnableVersion:
    """A version with its manifest and entry points."""

    version: Version
    manifest: Manifest
    entry_points: EntryPoints

    @property
    def schema(self) -> Mapping[str, Any] | None:
        return self.manifest.input_schema

    @property
    def fields(self) -> list[dict[str, Any]]:
        return manifest_fields(self.manifest)

    @property
    def runnable(self) -> bool:
        """Whether pages may start the version. Only other skills and the API can start internal skills."""
        return self.callable and not self.is_internal

    @property
    def callable(self) -> bool:
        """Whether the version has a script, tool or endpoint to call. False for a plain prompt, which has its
        own page.
        """
        return not self.entry_points.unavailable and not self.entry_points.prompt_only

    @property
    def is_internal(self) -> bool:
        return self.manifest.type == INTERNAL

    @property
    def is_static(self) -> bool:
        """Whether the version only has files to read, without a script or a prompt."""
        return self.manifest.type == "static"

    @property
    def protocol(self) -> str:
        """The protocol of the default script, otherwise of the first script; "" if there are no scripts."""
        scripts = self.entry_points.scripts
        found = next(
            (one for one in scripts if one.id == self.entry_points.default), scripts[0] if scripts else None
        )
        return found.protocol if found else ""


_ENTRY_POINTS: BoundedCache[EntryPoints] = BoundedCache(512)
_REPORTS: BoundedCache[dict[Profile, tuple[Problem, ...]]] = BoundedCache(512)


def runnable_version(version: Version) -> RunnableVersion:
    """The version with its entry points, which are read from its archive once and cached."""
    manifest = effective_manifest(version)
    key = (version.digest, version.profile)
    return RunnableVersion(
        version, manifest, _ENTRY_POINTS.get(key, lambda: _read_entry_points(version, manifest))
    )


def _read_entry_points(version: Version, manifest: Manifest) -> EntryPoints:
    with blobs.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        paths = tuple(version.files.values_list("path", flat=True))
        profile: Profile = version.profile  # type: ignore[assignment]
        return find_entry_points(paths, manifest, profile, archive.read)


@dataclass(frozen=True)
class ProfileReport:
    """The problems of a package under one profile; ``is_own`` if that is the package's own profile."""

    profile: Profile
    problems: tuple[Problem, ...]
    is_own: bool

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]


def profile_reports(package: Package) -> list[ProfileReport]:
    """The problems of the package under every profile, its own profile first."""
    return _reports(package.profile, problems_by_profile(package) | {package.profile: package.problems})


def stored_profile_reports(version: Version, problems: tuple[Problem, ...]) -> list[ProfileReport]:
    """The reports of a stored version; ``problems`` were found under its own profile at publishing.

    Archives over ``_MAX_RECHECK_BYTES``, and those that storage can't return, get only the report of their
    own profile.
    """
    own: Profile = version.profile  # type: ignore[assignment]
    if version.archive_size > _MAX_RECHECK_BYTES:
        return [ProfileReport(own, problems, True)]
    try:
        found = _REPORTS.get((version.digest, version.skill.slug), lambda: _recheck(version))
    except Refusal:  # storage failed; the empty result is not cached
        found = {}
    return _reports(own, found | {own: problems})


def _recheck(version: Version) -> dict[Profile, tuple[Problem, ...]]:
    data = blobs.read(version.digest)
    try:
        return stored_problems_by_profile(data, version.skill.slug)
    except Refusal:
        return {}  # the site's limits were lowered after publishing


def _reports(own: Profile, found: Mapping[Profile, tuple[Problem, ...]]) -> list[ProfileReport]:
    rows = [
        ProfileReport(profile, found[profile], profile == own) for profile in PROFILES if profile in found
    ]
    return sorted(rows, key=lambda report: not report.is_own)


def example_call(runnable: RunnableVersion) -> dict[str, Any]:
    """An example body for ``POST /api/v1/runs``: required inputs, and script, action or tool if needed."""
    scripts, actions = (
        runnable.entry_points.scripts,
        [action for action in runnable.entry_points.actions if action.declared],
    )
    call: dict[str, Any] = {"skill": str(runnable.version.skill)}
    if runnable.version.pk != runnable.version.skill.latest_id:
        call["version"] = runnable.version.number
    if tools := runnable.entry_points.tools:
        return call | {"tool": tools[0].name, "inputs": example_of(tools[0].schema)}
    if scripts and not runnable.entry_points.default:
        call["script"] = scripts[0].id
    if runnable.protocol == "stdin_json" and len(actions) > 1:
        call["action"] = actions[0].name
    return call | {"inputs": example_of(runnable.schema)}


def example_of(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The first 20 required inputs, each with its default or example, otherwise with a value of its type."""
    schema = schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    rules = {name: properties[name] for name in required if isinstance(name, str) and name in properties}
    return {name: _value(rule if isinstance(rule, dict) else {}) for name, rule in list(rules.items())[:20]}


def _value(rule: dict[str, Any]) -> Any:
    if "default" in rule:
        return rule["default"]
    for key in ("examples", "enum"):
        if isinstance(rule.get(key), list) and rule[key]:
            return rule[key][0]
    kind = rule.get("type")
    return _EXAMPLES.get(kind, "…") if isinstance(kind, str) else "…"
