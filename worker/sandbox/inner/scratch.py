"""Mounts the attempt's scratch space in the init process, or joins the space that an earlier start mounted.

The space is one file system of fixed size over the attempt's folder, with ``job``, ``tmp`` and ``shm``. It
exists only in the run's mount namespace: the host's folder does not change, and nothing has to be unmounted.
"""

from __future__ import annotations

import os
import shutil
import socket
from typing import Any

from . import kernel

_FOLDERS = ("tmp", "shm")
_INPUT = "input"


def enter(order: dict[str, Any], uid: int | None, run_socket: socket.socket, joined: list[int]) -> None:
    """Mounts a new space and sends its descriptors to the worker, or joins the namespaces ``joined``.

    Then makes ``uid``, if not None, the owner of the content except the inputs. ``order`` has ``folder``,
    ``size`` in bytes, ``inodes`` and ``device``: a block device with an ext4 file system, or "" for a tmpfs.
    """
    folder = order["folder"]
    if joined:
        _join(joined)
    else:
        _mount(order, own_namespace=uid is None)
        _announce(folder, run_socket, own_namespace=uid is None)
    if uid is not None:
        _give(folder, uid)


def _join(namespaces: list[int]) -> None:
    """Enters the user namespace, if passed, then the mount namespace; closes their descriptors."""
    kinds = (kernel.CLONE_NEWUSER, kernel.CLONE_NEWNS)[-len(namespaces) :]
    for descriptor, kind in zip(namespaces, kinds, strict=True):
        kernel.join_namespace(descriptor, kind)
        os.close(descriptor)


def _mount(order: dict[str, Any], *, own_namespace: bool) -> None:
    folder = order["folder"]
    # An unprivileged user may mount in its own user namespace, in which it keeps its user id.
    if own_namespace:
        kernel.map_own_user()
    kernel.unshare(kernel.CLONE_NEWNS)
    propagation = kernel.MS_SLAVE if own_namespace else kernel.MS_PRIVATE
    kernel.mount("none", "/", flags=kernel.MS_REC | propagation)
    below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if order["device"]:
            kernel.mount(order["device"], folder, "ext4", kernel.MS_NOSUID | kernel.MS_NODEV)
        else:
            options = f"mode=0755,size={order['size']},nr_inodes={order['inodes']}"
            kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
        for name in _FOLDERS:
            os.mkdir(f"{folder}/{name}")
            os.chmod(f"{folder}/{name}", 0o1777)
        _copy(f"/proc/self/fd/{below}/job", f"{folder}/job")
    finally:
        os.close(below)


def _copy(source: str, target: str) -> None:
    """Copies the files that the worker prepared; bind-mounts the inputs read-only to save space."""
    shutil.copytree(source, target, symlinks=True, ignore=lambda _folder, names: {_INPUT} & set(names))
    if os.path.isdir(f"{source}/{_INPUT}"):
        os.mkdir(f"{target}/{_INPUT}")
        kernel.bind(f"{source}/{_INPUT}", f"{target}/{_INPUT}", read_only=True)


def _give(folder: str, uid: int) -> None:
    """Makes the run's user the owner of everything in the space except its top folder and the inputs."""
    for parent, folders, files in os.walk(folder):
        if parent == f"{folder}/job" and _INPUT in folders:
            folders.remove(_INPUT)
        for name in (*folders, *files):
            os.lchown(f"{parent}/{name}", uid, uid)


def _announce(folder: str, run_socket: socket.socket, *, own_namespace: bool) -> None:
    """Sends the worker descriptors of the space's top folder and namespaces. Open descriptors keep the space
    alive.
    """
    namespaces = ["user", "mnt"] if own_namespace else ["mnt"]
    paths = [folder, *(f"/proc/self/ns/{name}" for name in namespaces)]
    opened = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths]
    socket.send_fds(run_socket, [b"\n"], opened)
    for descriptor in opened:
        os.close(descriptor)
