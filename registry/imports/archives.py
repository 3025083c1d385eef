"""An archive with many skills, as a repository is downloaded: through the gate, onto disk, read as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from registry.imports.found import Found, Passed


def read_archive(
    data: bytes, scratch: Path, *, source: str, provenance: Mapping[str, str]
) -> Iterator[Found | Passed]:
    """``scratch`` is where it is unpacked. Refuses what the gate refuses, before anything is written."""
    raise NotImplementedError
