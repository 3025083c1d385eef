"""Finds values of a manifest that exceed the site's limits and are therefore reduced in every run."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter
from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.runs.cache import MAX_TTL_S
from worker.script_checks.errors import LIMIT_EXCEEDED


def find_cut_limits(package: Package) -> tuple[Problem, ...]:
    """A notice for each value above a limit, at its line."""
    return tuple(_notices(package))


def _notices(package: Package) -> Iterator[Problem]:
    manifest, front = package.manifest, package.front_matter
    security, max_ms = manifest.security, settings.SKILLQUAY_MAX_RUN_SECONDS * 1000
    values = (
        ("security.timeout_ms", security.timeout_ms, max_ms),
        ("security.memory_mb", security.memory_mb, settings.SKILLQUAY_MAX_RUN_MEMORY_MB),
        ("ttl", manifest.ttl if manifest.cacheable else None, MAX_TTL_S),
    )
    for field, value, limit in values:
        if value is not None and value > limit:
            path, line = _place(front, field) if front else (SKILL_MD, None)
            yield LIMIT_EXCEEDED.problem(field=field, value=value, limit=limit).at(path, line)


def _place(front: FrontMatter, field: str) -> tuple[str, int | None]:
    """The file and line of the field, whose name may be in camel case, such as ``timeoutMs``."""
    *groups, name = field.split(".")
    values = front.values.get(groups[0]) if groups else front.values
    names = values if isinstance(values, dict) else {}
    spelled = next((one for one in names if one.replace("_", "").lower() == name.replace("_", "")), name)
    return front.at(*groups, spelled)
