"""What a run may have left on this machine."""

from __future__ import annotations

from pathlib import Path

from tests.site import Site


def processes_of_runs(site: Site) -> list[str]:
    """Command lines of processes that run a script of this site, or see a mount of its folder."""
    tail = "/".join(site.folder.parts[-3:])  # a mount is told from the root of its own file system
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            mounts = (process / "mountinfo").read_text()
        except OSError:
            continue
        if tail in mounts or f"{tail}/var/cache/packages" in words:
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
