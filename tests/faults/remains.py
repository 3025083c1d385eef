"""What a run may have left on this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.site import Site


def processes_of_runs(site: Site) -> list[str]:
    """Command lines of processes that run a script of this site, or see a mount of its folder."""
    tail = "/".join(site.folder.parts[-3:])  # a mount is told from the root of its own file system
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            lines = (process / "mountinfo").read_text().splitlines()
        except OSError:
            continue
        own_disk = f" {site.folder}/var "  # where it has one, everybody sees it
        if (
            any(tail in line and own_disk not in line for line in lines)
            or f"{tail}/var/cache/packages" in words
        ):
            found.append(words)
    return found


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def groups(pids: list[int]) -> list[Path]:
    """Memory groups that these worker processes made."""
    root = Path("/sys/fs/cgroup")
    return [found for pid in pids for found in root.glob(f"**/skillquay-{pid}-*") if found.is_dir()]


def is_alive(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def zombies(parents: list[int]) -> list[int]:
    """Dead processes that these have not asked after."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (process / "stat").read_text().rpartition(") ")[2].split()[:2]
            if state == "Z" and int(parent) in parents:
                found.append(int(process.name))
    return found


def mounts(folder: Path) -> list[str]:
    """Below a folder, as this process sees them."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [place for line in lines if (place := line.split()[4]).startswith(f"{folder}/")]


def fill(file: Path) -> None:
    """Until nothing more goes onto the disk."""
    for size in (1 << 20, 4096):
        with contextlib.suppress(OSError), open(file, "ab", buffering=0) as filler:
            while True:
                filler.write(b"x" * size)
