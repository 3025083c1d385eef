"""Chooses the profile of a package, and decides which warnings are errors under a profile."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.packages.checks import errors
from registry.packages.dependencies.errors import DEPENDENCY_INVALID, DEPENDENCY_LOCK_MISSING
from registry.packages.errors import FIELD_LIST_AS_TEXT, FIELD_TYPE, FIELD_VALUE, VERSION_INVALID
from registry.packages.package import TYPES, PackageFile, Profile
from registry.packages.problems import Problem

CODE = frozenset(
    extension
    for family in (
        "py pyw pyc sh bash zsh fish js mjs cjs ts mts cts tsx jsx rb pl php lua",
        "ps1 psm1 bat cmd vbs wsf exe dll so dylib com scr msi jar class wasm",
        "go rs c cc cpp java kt swift r jl scpt applescript",
    )
    for extension in family.split()
)
RUNNABLE = ("ts", "js", "mjs", "py", "sh")  # extensions of scripts that a run can start
_STRICT = frozenset(
    code.name
    for code in (
        FIELD_TYPE,
        FIELD_VALUE,
        FIELD_LIST_AS_TEXT,
        errors.DESCRIPTION_TOO_LONG,
        VERSION_INVALID,
        errors.ABP_TOOL,
        errors.ENTRY_OUTSIDE_SCRIPTS,
        errors.ENTRY_NOT_RUNNABLE,
        errors.RESOURCE_MISSING,
        errors.CODE_OUTSIDE_SCRIPTS,
        errors.SCHEMA_NOT_OBJECT,
        DEPENDENCY_INVALID,
        DEPENDENCY_LOCK_MISSING,
    )
)
_MAX_SCANNED = 256 * 1024  # bytes read per script
_READS_REQUEST = re.compile(rb"\bjson\.loads?\(\s*sys\.stdin\b")
_USES_ACTION = re.compile(rb"""["']action["']""")
_USES_ARGUMENTS = re.compile(rb"\bargparse\b|\bsys\.argv\b")
_AGENT_SKILL = re.compile(r"(?:agents/[^/]+/)?\.claude/skills/(?!_)[^/]+\.py")


def suffix(path: str) -> str:
    """The lower-case extension without its dot, or "" if there is none."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


@dataclass(frozen=True)
class ProfileChoice:
    """A profile and the reason why it applies: a field of the front matter, or the path of a script.

    Both are "" for the default profile.
    """

    profile: Profile
    field: str = ""
    path: str = ""


def choose_profile(values: Mapping[str, Any], files: tuple[PackageFile, ...]) -> ProfileChoice:
    """The profile that applies to a package with these front matter values and files.

    - ``apexbridge``: ``type`` or ``protocol`` has an ApexBridge value, or ``abp`` is a mapping.
    - ``single-file``: the front matter declares it, or a script in ``single_scripts`` reads JSON
      requests.
    - ``agentskills``: all other packages.
    """
    if values.get("type") in TYPES:
        return ProfileChoice("apexbridge", field="type")
    if values.get("protocol") in ("vcp", "abp"):
        return ProfileChoice("apexbridge", field="protocol")
    if isinstance(values.get("abp"), dict):
        return ProfileChoice("apexbridge", field="abp")
    metadata = values.get("metadata")
    declared = values.get("profile") or (metadata.get("profile") if isinstance(metadata, dict) else None)
    if declared == "single-file":
        return ProfileChoice("single-file", field="profile" if values.get("profile") else "metadata")
    script = next((file.path for file in single_scripts(files) if reads_json_requests(file)), "")
    return ProfileChoice("single-file", path=script) if script else ProfileChoice("agentskills")


def single_scripts(files: tuple[PackageFile, ...]) -> tuple[PackageFile, ...]:
    """The possible scripts of a single-file skill; may be empty.

    Returns the Python files in ``.claude/skills/``. If there are none, returns the only code file in
    ``scripts/``, provided that it is Python.
    """
    if layout_scripts := tuple(file for file in files if _AGENT_SKILL.fullmatch(file.path)):
        return layout_scripts
    scripts = tuple(f for f in files if f.path.startswith("scripts/") and suffix(f.path) in CODE)
    return scripts if len(scripts) == 1 and scripts[0].path.endswith(".py") else ()


def reads_json_requests(file: PackageFile) -> bool:
    """Whether the script reads a JSON request with an ``action`` from stdin and takes no arguments.

    True for every script in ``.claude/skills/``. Searches the first 256 kB of other scripts.
    """
    if _AGENT_SKILL.fullmatch(file.path):
        return True
    source = file.data[:_MAX_SCANNED]
    return bool(
        _READS_REQUEST.search(source) and _USES_ACTION.search(source) and not _USES_ARGUMENTS.search(source)
    )


def apply_profile(problem: Problem, profile: Profile) -> Problem:
    """The problem with its severity under this profile: for ``apexbridge``, some warnings are errors."""
    if profile == "apexbridge" and problem.severity == "warning" and problem.code in _STRICT:
        return replace(problem, severity="error")
    return problem
