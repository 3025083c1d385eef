"""Attacks by single calls on the sandbox's surroundings: /proc, devices, links, host sockets, the network."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import struct

from worker.sandbox.doctor.attacks.inside import HOST, Escaped, ProbeSet, denied, unreadable, unwritable

PROBES = ProbeSet()

# /proc


@PROBES.add("find host paths in the first process's command line")
def _command_line() -> str:
    try:
        with open("/proc/1/cmdline") as file:
            text = file.read()
    except OSError as error:
        return str(error)
    for path in HOST["paths"]:
        if path in text:
            raise Escaped(text)
    return "none found"


@PROBES.add("inspect the first process of the sandbox")
def _first_process() -> str:
    return denied(lambda: os.listdir("/proc/1/fd"))


@PROBES.add("write into the memory of the first process")
def _first_memory() -> str:
    return unwritable("/proc/1/mem", "/proc/1/task/1/mem", "/proc/1/oom_score_adj")


@PROBES.add("read kernel addresses, log and memory")
def _kernel() -> str:
    try:
        with open("/proc/kallsyms") as file:
            if int(file.readline().split()[0], 16):
                raise Escaped("kallsyms shows addresses")
    except (OSError, IndexError):
        pass
    return unreadable("/proc/kcore", "/dev/mem", "/dev/kmsg", "/proc/kmsg")


# files


@PROBES.add("write into the inputs")
def _write_inputs() -> str:
    return unwritable("/job/input/x")


@PROBES.add("create a device")
def _device() -> str:
    return denied(lambda: os.mknod("/job/output/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))


@PROBES.add("hard-link a file of the host")
def _hard_link() -> str:
    return denied(lambda: os.link("/usr/bin/env", "/job/output/env"))


# the network


@PROBES.add("send a datagram out")
def _datagram() -> str:
    return denied(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))


PROBES.add_socket("open packet sockets", 17, socket.SOCK_RAW)
PROBES.add_socket("open netlink sockets", 16, socket.SOCK_RAW)


@PROBES.add("connect to a socket file of the host")
def _socket_file() -> str:
    return denied(lambda: socket.socket(socket.AF_UNIX).connect(HOST["socket_file"]))


@PROBES.add("see the host's network interfaces")
def _interfaces() -> str:
    try:
        with open("/proc/net/dev") as file:
            names = [line.split(":")[0].strip() for line in file if ":" in line]
    except PermissionError as error:
        return str(error)
    if set(names) - {"lo"}:
        raise Escaped(str(names))
    return "only lo"


@PROBES.add("configure the network")
def _configure() -> str:
    address = struct.pack("16sH14x", b"lo", 0)
    return denied(lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, address))
