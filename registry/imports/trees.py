"""A folder of this machine, a checkout or an unpacked archive → candidates: roots, agents, commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from registry.imports.found import Found, Passed


@dataclass(frozen=True)
class Tree:
    """What to read of a folder, and how far to trust it."""

    folder: Path
    source: str  # Skill.source of what is found: disk, git, archive, address
    provenance: Mapping[str, str] = field(default_factory=dict)
    deep: bool = False  # every folder with a SKILL.md counts, wherever it lies; so for checkouts and archives
    is_tracked: bool = False  # a checkout or an archive: .gitignore took its effect already
    allow_external: bool = False  # paths and links may lead out of the folder


def read_tree(tree: Tree) -> Iterator[Found | Passed]:
    raise NotImplementedError
