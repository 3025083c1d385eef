"""The scratch space of an attempt: one file system of fixed size for ``/job``, ``/tmp`` and ``/dev/shm``.

The kernel enforces its size and its number of files. The first start mounts the space in a new mount
namespace, and later starts join that namespace. The space ends when the worker closes its descriptors.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.sandbox.limits import loop_device
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.watchdog import FolderUsage

TMP, SHM = "tmp", "shm"
_OWN_INODES = 16  # entries for the space's own folders and the files that the worker prepares
_FULL_BYTES = 1 << 16  # a file system with less free space counts as full


@dataclass
class Scratch:
    """The scratch space of one attempt. ``folder`` is on the host and contains the job folder ``job``.

    The first start mounts the space over ``folder``. ``device`` is a block device with an ext4 file system;
    if it is "", the space is a tmpfs, whose pages are memory.
    """

    folder: Path
    size: int  # bytes
    files: int
    device: str = ""
    _device: int | None = None  # descriptor that keeps the device until the space is closed
    _top: int | None = None
    _namespaces: list[int] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "loop device" if self.device else "tmpfs"

    @property
    def mounted(self) -> bool:
        return self._top is not None

    @property
    def namespaces(self) -> list[int]:
        """Descriptors that a later start needs to join the space; none before the first start."""
        return self._namespaces

    def order(self) -> dict[str, Any]:
        """The part of the launcher's order that mounts or joins the space."""
        return {
            "folder": str(self.folder),
            "size": self.size,
            "inodes": self.files + _OWN_INODES,
            "device": self.device,
            "joined": len(self._namespaces),
        }

    def attach(self, descriptors: list[int]) -> None:
        """Takes ownership of the descriptors from the init process: the top folder, then the namespaces."""
        self._top, *self._namespaces = descriptors

    @property
    def device_number(self) -> int:
        """The ``st_dev`` of the space's files; 0 before the first start."""
        return 0 if self._top is None else os.fstat(self._top).st_dev

    def usage(self) -> FolderUsage:
        """Entries and bytes in use, including deleted files that are still open; 0 before the first start."""
        if self._top is None:
            return FolderUsage(0, 0)
        status = os.fstatvfs(self._top)
        used = (status.f_blocks - status.f_bfree) * status.f_frsize
        return FolderUsage(status.f_files - status.f_ffree, used)

    def exhausted(self) -> str:
        """The resource that is used up, ``bytes`` or ``files``; "" if none is, or before the first start.

        ``bytes`` are used up if less than 64 KiB are free, or less than 1/32 of a device.
        """
        if self._top is None:
            return ""
        status = os.fstatvfs(self._top)
        reserved = status.f_blocks * status.f_frsize // 32 if self.device else 0  # ext4 reserves about 2 %
        if status.f_bavail * status.f_frsize < max(_FULL_BYTES, reserved):
            return "bytes"
        return "" if status.f_ffree else "files"

    @property
    def job_folder(self) -> Path:
        """The path of the run's job folder: in the space, or on the host before the first start."""
        return (self.folder if self._top is None else Path(f"/proc/self/fd/{self._top}")) / "job"

    def close(self) -> None:
        """Closes all descriptors, which ends the space and deletes its files; collect the output first."""
        for descriptor in (self._top, self._device, *self._namespaces):
            if descriptor is not None:
                os.close(descriptor)
        self._top, self._device, self._namespaces = None, None, []


def open_scratch(folder: Path, limits: Limits, max_tmpfs_bytes: int) -> Scratch | None:
    """Opens the scratch space of an attempt: a tmpfs of at most ``max_tmpfs_bytes``, otherwise a loop device.

    Returns None if no loop device can be attached; then only the watchdog enforces the disk limits.
    """
    planned = plan_scratch(folder, limits, max_tmpfs_bytes)
    if planned is None or not planned.device:
        return planned
    try:
        image, inodes = folder.with_suffix(".image"), limits.files + _OWN_INODES
        device, descriptor = loop_device.attach(image, planned.size, inodes)
    except OSError:
        return None
    return Scratch(folder, planned.size, limits.files, device, descriptor)


def plan_scratch(folder: Path, limits: Limits, max_tmpfs_bytes: int) -> Scratch | None:
    """The space that ``open_scratch`` would open, without attaching a device; None if there would be none."""
    size = limits.disk_mb << 20
    if size <= max_tmpfs_bytes:
        return Scratch(folder, size, limits.files)
    return Scratch(folder, size, limits.files, device="loop") if loop_device.is_available() else None
