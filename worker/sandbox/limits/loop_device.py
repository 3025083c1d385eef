"""Attaches loop devices with an ext4 file system, for scratch spaces that are too large for memory."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path

_CONTROL = "/dev/loop-control"
_GET_FREE, _CONFIGURE = 0x4C82, 0x4C0A
_AUTOCLEAR = 4  # releases the device when it is neither open nor mounted
_CONFIG = "=II 52xI 176x 64x"  # struct loop_config: file, block size, lo_flags
_ATTEMPTS = 10  # another process may take the same free device first


def is_available() -> bool:
    return os.geteuid() == 0 and os.path.exists(_CONTROL) and _mkfs() is not None


def attach(image: Path, size: int, files: int) -> tuple[str, int]:
    """Creates an ext4 file system with ``files`` inodes; returns path and descriptor of its loop device.

    The device's ``size`` bytes are in the file ``image``, which must not exist and is deleted at once. The
    device is released when the descriptor is closed and the file system is no longer mounted. Raises OSError
    if this fails.
    """
    program = _mkfs()
    if program is None:
        raise OSError("mkfs.ext4 is missing")
    descriptor = os.open(image, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, size)
        words = ("-q", "-F", "-m", "0", "-N", str(files), "-O", "^has_journal", "-E", "nodiscard")
        done = subprocess.run([program, *words, str(image)], capture_output=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.decode(errors="replace").strip() or "mkfs.ext4 failed")
        return _configure(descriptor)
    finally:
        image.unlink()
        os.close(descriptor)


@cache
def _mkfs() -> str | None:
    return shutil.which("mkfs.ext4", path="/usr/sbin:/sbin:/usr/bin:/bin")


def _configure(image: int) -> tuple[str, int]:
    control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        for _attempt in range(_ATTEMPTS):
            path = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            device = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _CONFIGURE, struct.pack(_CONFIG, image, 0, _AUTOCLEAR))
                return path, device
            except OSError:
                os.close(device)
    finally:
        os.close(control)
    raise OSError("no free loop device")
