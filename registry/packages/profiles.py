"""Which profile a package is held to, and which hints are errors there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
RUNNABLE = ("ts", "js", "mjs", "py", "sh")  # what a run can start
_STRICT = frozenset(
    {"FIELD_TYPE", "FIELD_VALUE", "FIELD_LIST_AS_TEXT", "DESCRIPTION_TOO_LONG", "VERSION_INVALID", "ABP_TOOL"}
    | {"ENTRY_OUTSIDE_SCRIPTS", "ENTRY_NOT_RUNNABLE", "RESOURCE_MISSING", "CODE_OUTSIDE_SCRIPTS"}
    | {"SCHEMA_NOT_OBJECT", "DEPENDENCY_INVALID", "DEPENDENCY_LOCK_MISSING"}
)
_SCANNED = 256 * 1024  # bytes of a script that are looked at
_READS_REQUEST = re.compile(rb"\bjson\.loads?\(\s*sys\.stdin\b")
_USES_ACTION = re.compile(rb"""["']action["']""")
_USES_ARGUMENTS = re.compile(rb"\bargparse\b|\bsys\.argv\b")
_AGENT_SKILL = re.compile(r"(?:agents/[^/]+/)?\.claude/skills/(?!_)[^/]+\.py")


def suffix(path: str) -> str:
    """The lower-case extension without its dot."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def choose_profile(values: Mapping[str, Any], files: tuple[PackageFile, ...]) -> Profile:
    """As REQUIREMENTS, "What blocks a package".

    A single-file skill of document B is one that says ``profile: single-file``, that keeps B's layout
    (``.claude/skills/<name>.py``), or whose only script is Python that reads a JSON request with an
    ``action`` from stdin and takes no arguments, which is what B's protocol is.
    """
    if (
        values.get("type") in TYPES
        or values.get("protocol") in ("vcp", "abp")
        or isinstance(values.get("abp"), dict)
    ):
        return "apexbridge"
    metadata = values.get("metadata")
    said = values.get("profile") or (metadata.get("profile") if isinstance(metadata, dict) else None)
    if said == "single-file" or any(speaks_requests(file) for file in single_scripts(files)):
        return "single-file"
    return "agentskills"


def single_scripts(files: tuple[PackageFile, ...]) -> tuple[PackageFile, ...]:
    """What a single-file skill may consist of: B's layout, else the only script below scripts/."""
    if kept := tuple(file for file in files if _AGENT_SKILL.fullmatch(file.path)):
        return kept
    scripts = tuple(f for f in files if f.path.startswith("scripts/") and suffix(f.path) in CODE)
    return scripts if len(scripts) == 1 and scripts[0].path.endswith(".py") else ()


def speaks_requests(file: PackageFile) -> bool:
    """Whether this script speaks document B's protocol."""
    if _AGENT_SKILL.fullmatch(file.path):
        return True
    source = file.data[:_SCANNED]
    return bool(
        _READS_REQUEST.search(source) and _USES_ACTION.search(source) and not _USES_ARGUMENTS.search(source)
    )


def judged(problem: Problem, profile: Profile) -> Problem:
    """The problem with the severity that it has under this profile."""
    if profile == "apexbridge" and problem.severity == "warning" and problem.code in _STRICT:
        return replace(problem, severity="error")
    return problem
