"""What a run may have left on this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from tests.site import Site


def processes_of_runs(site: Site) -> list[str]:
    """Command lines of processes that run a script of this site, or see a mount of its folder."""
    is_theirs = _mount_of(site.folder)
    package = f"{'/'.join(site.folder.parts[-3:])}/var/cache/packages"
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            lines = (process / "mountinfo").read_text().splitlines()
        except OSError:
            continue
        if any(map(is_theirs, lines)) or package in words:
            found.append(words or process.name)
    return found


def _mount_of(folder: Path) -> Callable[[str], bool]:
    """Whether a line tells of a mount that only a run has: a mount is told from the root of its own disk."""
    var = folder / "var"
    if not var.is_mount():
        tail = f"{'/'.join(folder.parts[-3:])}/var/"
        return lambda line: tail in line
    device = var.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    # Where the disk itself is mounted everybody sees it, also from a mount namespace of their own.
    return lambda line: line.split()[2] == number and line.split()[4] != str(var)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def groups(pids: list[int]) -> list[str]:
    """Memory groups that these worker processes made."""
    names = tuple(f"skillquay-{pid}-" for pid in pids)
    root = Path("/sys/fs/cgroup")  # os.walk passes over what others remove meanwhile
    return [name for _, folders, _ in os.walk(root) for name in folders if names and name.startswith(names)]


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
