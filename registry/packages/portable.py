"""A package in the open format of Agent Skills: six fields at the top, everything else below ``metadata``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.packages.carried import PREFIX, as_text
from registry.packages.frontmatter import SKILL_MD, read_skill_md
from registry.packages.limits import Limits
from registry.packages.manifest_parts import split_tools
from registry.packages.package import Manifest, PackageFile
from registry.packages.yaml_writing import scalar

NAME, DESCRIPTION, COMPATIBILITY = 64, 1024, 500  # characters that the format allows
_TOOLS = ("allowed-tools", "allowedTools", "allowed_tools")
_LICENSE = ("license", "licence")
_UNLIMITED = Limits(skill_md=1 << 31, front_matter=1 << 31)


def portable(files: tuple[PackageFile, ...], manifest: Manifest) -> tuple[PackageFile, ...]:
    """The same files with another SKILL.md, in one folder that is called as the skill is."""
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
    """What stands at the top, and what is carried."""
    top = {
        "name": manifest.slug,
        "description": _cut(manifest.description, DESCRIPTION),
        "license": manifest.license,
        "compatibility": _cut(manifest.compatibility, COMPATIBILITY),
        "allowed-tools": " ".join(manifest.allowed_tools),
    }
    top = {key: text for key, text in top.items() if text}
    left = {key: value for key, value in values.items() if key not in ("metadata", *_TOOLS, *_LICENSE)}
    if left.get("version") is not None and not _of_metadata(values, "version"):
        left.pop("version")
    for key in ("name", "description", "compatibility"):
        if str(left.get(key) or "").strip() == top.get(key, ""):
            left.pop(key, None)
    if tuple(split_tools(top.get("allowed-tools", ""))) != manifest.allowed_tools:
        left["allowed-tools"] = list(manifest.allowed_tools)
    return top, _carried(values, left)


def _carried(values: Mapping[str, Any], left: Mapping[str, Any]) -> dict[str, str]:
    """The author's own metadata first; what of it is no text is readable there and carried as it was."""
    metadata = values.get("metadata")
    own = metadata if isinstance(metadata, dict) else {}
    odd: Any = {key: value for key, value in own.items() if not isinstance(value, str)}
    if metadata is not None and not isinstance(metadata, dict):
        odd = metadata
    texts = {key: value if isinstance(value, str) else as_text(value) for key, value in own.items()}
    if values.get("version") is not None and "version" not in left:
        texts["version"] = str(values["version"])
    texts |= {PREFIX + key: as_text(value) for key, value in left.items()}
    return texts | ({PREFIX + "metadata": as_text(odd)} if odd else {})


def _of_metadata(values: Mapping[str, Any], key: str) -> Any:
    metadata = values.get("metadata")
    return metadata.get(key) if isinstance(metadata, dict) else None


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
