"""Size limits for uploaded packages. The defaults refuse none of 5,956 real packages."""

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Limits per package. ``archive`` to ``front_matter`` are sizes in bytes, the others are counts."""

    archive: int = 20 * MEGABYTE
    unpacked: int = 50 * MEGABYTE
    file: int = 10 * MEGABYTE
    skill_md: int = 256 * 1024
    front_matter: int = 64 * 1024
    entries: int = 2_000  # files and folders
    path_characters: int = 500
    path_depth: int = 20
    yaml_depth: int = 20
    yaml_nodes: int = 10_000
