"""Converts a package to the open Agent Skills format: six top-level fields, all others under ``metadata``."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.authoring.metadata_fields import PREFIX, as_text
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import SKILL_MD, read_skill_md
from registry.packages.manifest.groups import split_tools
from registry.packages.manifest.yaml_writer import scalar
from registry.packages.package import Manifest, PackageFile

MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY = 64, 1024, 500  # maximum characters in the format
_TOOLS = ("allowed-tools", "allowedTools", "allowed_tools")
_LICENSE = ("license", "licence")
_UNLIMITED = Limits(skill_md=1 << 31, front_matter=1 << 31)


def make_portable(files: tuple[PackageFile, ...], manifest: Manifest) -> tuple[PackageFile, ...]:
    """The files with SKILL.md converted, in one folder named after the skill's slug."""
    return tuple(
        replace(file, path=f"{manifest.slug}/{file.path}", data=_data(file, manifest)) for file in files
    )


def _data(file: PackageFile, manifest: Manifest) -> bytes:
    if file.path != SKILL_MD:
        return file.data
    front = read_skill_md(file.data, _UNLIMITED)
    top, carried = _split(front.values, manifest)
    lines = [f"{key}: {scalar(text)}" for key, text in top.items()]
    if carried:
        lines += ["metadata:", *(f"  {scalar(key)}: {scalar(text)}" for key, text in carried.items())]
    return "\n".join(["---", *lines, "---", front.body]).encode()


def _split(values: Mapping[str, Any], manifest: Manifest) -> tuple[dict[str, str], dict[str, str]]:
    """The top-level fields, and the texts to store under ``metadata``, both by name."""
    top = {
        "name": manifest.slug,
        "description": _truncate(manifest.description, MAX_DESCRIPTION),
        "license": manifest.license,
        "compatibility": _truncate(manifest.compatibility, MAX_COMPATIBILITY),
        "allowed-tools": " ".join(manifest.allowed_tools),
    }
    top = {key: text for key, text in top.items() if text}
    others = {key: value for key, value in values.items() if key not in ("metadata", *_TOOLS, *_LICENSE)}
    if others.get("version") is not None and not _of_metadata(values, "version"):
        others.pop("version")
    for key in ("name", "description", "compatibility"):
        if str(others.get(key) or "").strip() == top.get(key, ""):
            others.pop(key, None)
    if tuple(split_tools(top.get("allowed-tools", ""))) != manifest.allowed_tools:
        others["allowed-tools"] = list(manifest.allowed_tools)
    return top, _metadata_texts(values, others)


def _metadata_texts(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, str]:
    """The texts under ``metadata``: the author's own, then the other fields.

    The author's values that are not text become text. Their originals are stored too, as JSON.
    """
    metadata = values.get("metadata")
    own = metadata if isinstance(metadata, dict) else {}
    not_text: Any = {key: value for key, value in own.items() if not isinstance(value, str)}
    if metadata is not None and not isinstance(metadata, dict):
        not_text = metadata
    texts = {key: value if isinstance(value, str) else as_text(value) for key, value in own.items()}
    if values.get("version") is not None and "version" not in others:
        texts["version"] = str(values["version"])
    texts |= {PREFIX + key: as_text(value) for key, value in others.items()}
    return texts | ({PREFIX + "metadata": as_text(not_text)} if not_text else {})


def _of_metadata(values: Mapping[str, Any], key: str) -> Any:
    metadata = values.get("metadata")
    return metadata.get(key) if isinstance(metadata, dict) else None


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
