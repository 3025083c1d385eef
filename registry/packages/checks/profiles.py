"""Chooses the profile of a package, and decides which warnings are errors under a profile."""

import re
from collections.abc import Mapping
from dataclasses import replace
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
    """The lower-case extension without its dot, "" if there is none."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def choose_profile(values: Mapping[str, Any], files: tuple[PackageFile, ...]) -> Profile:
    """The profile that applies to a package with these front matter values and files.

    A single-file skill declares ``profile: single-file``, has the layout ``.claude/skills/<name>.py``, or has
    one Python script that reads a JSON request with an ``action`` from stdin and takes no arguments (the JSON
    stdin protocol).
    """
    if (
        values.get("type") in TYPES
        or values.get("protocol") in ("vcp", "abp")
        or isinstance(values.get("abp"), dict)
    ):
        return "apexbridge"
    metadata = values.get("metadata")
    declared = values.get("profile") or (metadata.get("profile") if isinstance(metadata, dict) else None)
    if declared == "single-file" or any(reads_json_requests(file) for file in single_scripts(files)):
        return "single-file"
    return "agentskills"


def single_scripts(files: tuple[PackageFile, ...]) -> tuple[PackageFile, ...]:
    """A single-file skill's scripts: in ``.claude/skills/``, otherwise the only script if it is Python."""
    if layout_scripts := tuple(file for file in files if _AGENT_SKILL.fullmatch(file.path)):
        return layout_scripts
    scripts = tuple(f for f in files if f.path.startswith("scripts/") and suffix(f.path) in CODE)
    return scripts if len(scripts) == 1 and scripts[0].path.endswith(".py") else ()


def reads_json_requests(file: PackageFile) -> bool:
    """Whether the script uses the JSON stdin protocol; every script in ``.claude/skills/`` does."""
    if _AGENT_SKILL.fullmatch(file.path):
        return True
    source = file.data[:_MAX_SCANNED]
    return bool(
        _READS_REQUEST.search(source) and _USES_ACTION.search(source) and not _USES_ARGUMENTS.search(source)
    )


def apply_profile(problem: Problem, profile: Profile) -> Problem:
    """The problem with its severity under this profile."""
    if profile == "apexbridge" and problem.severity == "warning" and problem.code in _STRICT:
        return replace(problem, severity="error")
    return problem
