"""Decides whether the worker's disk is too full, and which run without a scratch space must end because of
this.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

_MIN_FREE, _MIN_FREE_SHARE = 1 << 30, 0.05
_MARK = ".on-disk"


def is_low(folder: Path, minimum: int) -> bool:
    """Whether the disk of ``folder`` has fewer bytes free than ``floor`` requires for ``minimum``."""
    usage = shutil.disk_usage(folder)
    return usage.free < floor(usage.total, minimum)


def floor(total: int, minimum: int) -> int:
    """The bytes that must stay free on a disk of ``total`` bytes.

    This is ``minimum``; if ``minimum`` is 0, it is the larger of 1 GiB and 5 % of the disk.
    """
    return minimum or max(_MIN_FREE, int(total * _MIN_FREE_SHARE))


def mark_on_disk(job_dir: Path) -> None:
    """Touches a file next to ``job_dir``, which marks that its run writes to this disk.

    The file's modification time is the start of the run.
    """
    (job_dir.parent / _MARK).touch()


def must_end(job_dir: Path, minimum: int) -> bool:
    """Whether space is low and this run is the youngest of those marked as writing to this disk."""
    return is_low(job_dir, minimum) and _started(job_dir.parent) >= max(
        map(_started, job_dir.parent.parent.iterdir()), default=0
    )


def _started(folder: Path) -> int:
    with suppress(OSError):
        return os.stat(folder / _MARK).st_mtime_ns
    return 0
