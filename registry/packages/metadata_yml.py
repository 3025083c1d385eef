"""``METADATA.yml`` of older packages: what it says counts where the front matter is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.frontmatter import TEXT_FIELDS, FrontMatter
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.paths import shown
from registry.packages.problems import Refused, problem, refuse
from registry.packages.yaml_reading import YamlReader

_NAMES = ("metadata.yml", "metadata.yaml")


def find_metadata(files: tuple[PackageFile, ...]) -> PackageFile | None:
    """The one beside SKILL.md, whatever the case of its name."""
    return next((file for file in files if file.path.lower() in _NAMES), None)


def with_metadata(front: FrontMatter, files: tuple[PackageFile, ...], limits: Limits) -> FrontMatter:
    """The front matter and, where it is empty, METADATA.yml; one that cannot be read is a warning."""
    file = find_metadata(files)
    if file is None or front.is_broken:
        return front
    try:
        older = read_metadata(file, limits)
    except Refused as refused:
        warnings = (replace(found, severity="warning") for found in refused.problems)
        return replace(front, problems=(*front.problems, *warnings))
    said = {_spelling(name) for name, value in front.values.items() if not is_empty(value)}
    taken = {
        name: value
        for name, value in older.values.items()
        if not is_empty(value) and _spelling(name) not in said
    }
    if not taken:
        return front
    names = shown(", ".join(taken))
    notice = problem("METADATA_USED", path=file.path, line=1, fields=names, file=file.path)
    return replace(
        front,
        values={**front.values, **taken},
        problems=(*front.problems, notice),
        beside=replace(older, values=taken),
    )


def read_metadata(file: PackageFile, limits: Limits) -> FrontMatter:
    """Its fields with their lines; refuses as front matter does."""
    if len(file.data) > limits.front_matter:
        raise refuse("FRONT_MATTER_TOO_LARGE", path=file.path, limit=limits.front_matter)
    reader = YamlReader(limits, file.path, as_text=TEXT_FIELDS)
    try:
        values = reader.read(file.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise refuse("FRONT_MATTER_INVALID", path=file.path, reason=f"byte {error.start}") from None
    fields: Mapping[str, Any] = {} if values is None else values
    if not isinstance(fields, dict):
        raise refuse("FRONT_MATTER_NOT_FIELDS", path=file.path, line=1)
    return FrontMatter(fields, "", lines=reader.lines, path=file.path)


def is_empty(value: object) -> bool:
    """Said with nothing in it; zero and false are something."""
    return value is None or value in ("", [], {})


def _spelling(name: str) -> str:
    """Equal for ``input_schema``, ``inputSchema`` and ``input-schema``."""
    return name.replace("_", "").replace("-", "").lower()
