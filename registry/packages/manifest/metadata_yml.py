"""Reads ``METADATA.yml`` of older packages, which fills empty fields of the front matter."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages import errors
from registry.packages.archive.paths import printable
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import TEXT_FIELDS, FrontMatter
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.package import PackageFile
from registry.packages.problems import LazyMessage, Refusal, gettext_noop

_NAMES = ("metadata.yml", "metadata.yaml")


def find_metadata(files: tuple[PackageFile, ...]) -> PackageFile | None:
    """The METADATA.yml or METADATA.yaml next to SKILL.md, in any letter case, or None."""
    return next((file for file in files if file.path.lower() in _NAMES), None)


def with_metadata(front: FrontMatter, files: tuple[PackageFile, ...], limits: Limits) -> FrontMatter:
    """The front matter with its empty fields filled from METADATA.yml, and a notice that names these fields.

    Broken front matter stays unchanged. An unreadable METADATA.yml only adds warnings.
    """
    file = find_metadata(files)
    if file is None or front.is_broken:
        return front
    try:
        legacy = read_metadata(file, limits)
    except Refusal as refused:
        warnings = (replace(each, severity="warning") for each in refused.problems)
        return replace(front, problems=(*front.problems, *warnings))
    present = {_normalize_key(name) for name, value in front.values.items() if not is_empty(value)}
    used = {
        name: value
        for name, value in legacy.values.items()
        if not is_empty(value) and _normalize_key(name) not in present
    }
    if not used:
        return front
    names = printable(", ".join(used))
    notice = errors.METADATA_USED.problem(fields=names, file=file.path).at(file.path, 1)
    return replace(
        front,
        values={**front.values, **used},
        problems=(*front.problems, notice),
        legacy_metadata=replace(legacy, values=used),
    )


def read_metadata(file: PackageFile, limits: Limits) -> FrontMatter:
    """The fields of METADATA.yml with their line numbers.

    Raises Refusal if the file is too large, not UTF-8, not readable as YAML or not a mapping.
    """
    if len(file.data) > limits.front_matter:
        raise errors.FRONT_MATTER_TOO_LARGE.refusal(limit=limits.front_matter).at(file.path)
    reader = YamlReader(limits, file.path, as_text=TEXT_FIELDS)
    try:
        values = reader.read(file.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        reason = LazyMessage(gettext_noop("byte %(number)s is not UTF-8"), number=error.start)
        raise errors.FRONT_MATTER_INVALID.refusal(reason=reason).at(file.path) from None
    fields: Mapping[str, Any] = {} if values is None else values
    if not isinstance(fields, dict):
        raise errors.FRONT_MATTER_NOT_FIELDS.refusal().at(file.path, 1)
    return FrontMatter(fields, "", lines=reader.lines, path=file.path)


def is_empty(value: object) -> bool:
    """Whether the value is None, an empty text, an empty list or an empty mapping."""
    return value is None or value in ("", [], {})


def _normalize_key(name: str) -> str:
    """A key that is equal for ``input_schema``, ``inputSchema`` and ``input-schema``."""
    return name.replace("_", "").replace("-", "").lower()
