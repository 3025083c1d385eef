"""Reads the ``skills`` list of ``agent.yaml`` files, which sets the timeouts of single-file skills."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from registry.packages.checks.profiles import single_scripts
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.package import Manifest, PackageFile
from registry.packages.problems import Refusal

AGENT_YAML = "agent.yaml"


def with_agent_timeout(manifest: Manifest, files: tuple[PackageFile, ...], limits: Limits) -> Manifest:
    """The manifest with the timeout from agent.yaml, or unchanged if it sets a timeout itself.

    Also unchanged unless ``single_scripts`` returns exactly one script. The timeout is ``skills[].timeout``
    in seconds, from the first row with a positive timeout and a ``name`` or ``entry`` that names the script.
    """
    scripts = single_scripts(files)
    if manifest.security.timeout_ms is not None or len(scripts) != 1:
        return manifest
    script = PurePosixPath(scripts[0].path).stem
    for row in skill_rows(files, limits):
        seconds: Any = row.get("timeout")
        named = {str(row.get("name")), PurePosixPath(str(row.get("entry"))).stem}
        if script in named and _is_positive(seconds):
            return replace(manifest, security=replace(manifest.security, timeout_ms=round(seconds * 1000)))
    return manifest


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**9


def skill_rows(files: tuple[PackageFile, ...], limits: Limits) -> Iterator[Mapping[str, Any]]:
    """Yields the rows of ``skills`` from every agent.yaml in the files.

    Skips rows that are not mappings, and files that are unreadable or exceed ``limits.front_matter``.
    """
    for file in files:
        if PurePosixPath(file.path).name != AGENT_YAML or len(file.data) > limits.front_matter:
            continue
        try:
            document = YamlReader(limits, path=file.path).read(file.data.decode("utf-8-sig"))
        except (Refusal, UnicodeDecodeError):
            continue
        rows = document.get("skills") if isinstance(document, dict) else None
        if isinstance(rows, list):
            yield from (row for row in rows if isinstance(row, dict))
