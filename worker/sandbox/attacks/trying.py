"""Run inside a sandbox: tries one attack after another and prints a JSON line for each.

A probe returns what stopped it; it raises ``Escaped`` where nothing did. What it needs to know of the host (a
listening port, the worker's number, paths, system call numbers) arrives as JSON on stdin.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

HOST: dict[str, Any] = {}
Probe = Callable[[], str]
PROBES: dict[str, Probe] = {}
LIBC = ctypes.CDLL(None, use_errno=True)


class Escaped(Exception):
    """The attack did what it should not have been able to do."""


def probe(attack: str, among: dict[str, Probe] = PROBES) -> Callable[[Probe], Probe]:
    def note(function: Probe) -> Probe:
        among[attack] = function
        return function

    return note


def call(name: str, *arguments: Any) -> str:
    """A system call that must be denied by the filter or not exist."""
    number = HOST["numbers"].get(name)
    if number is None:
        return "the architecture has no such call"
    ctypes.set_errno(0)
    done = LIBC.syscall(ctypes.c_long(number), *(arguments or [ctypes.c_long(0)] * 6))
    failed = ctypes.get_errno()
    if done >= 0 or failed not in (errno.EPERM, errno.ENOSYS):
        raise Escaped(f"{name}: returned {done}, {errno.errorcode.get(failed, failed)}")
    return f"{name}: {errno.errorcode[failed]}"


def denied(action: Callable[[], object]) -> str:
    try:
        action()
    except (OSError, ValueError) as error:
        return str(error)
    raise Escaped("it was allowed")


def unreadable(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, "rb") as file:
                if file.read(1):
                    raise Escaped(f"{path} was read")
        except OSError:
            continue
    return "absent or refused: " + ", ".join(paths)


def in_child(action: Callable[[], object]) -> int:
    """The wait status of a child that does it."""
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


def unwritable(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, "w"):
                raise Escaped(f"{path} was opened for writing")
        except OSError:
            continue
    return "refused: " + ", ".join(paths)


def calls(attack: str, *names: str) -> None:
    probe(attack)(lambda: "; ".join(call(name) for name in names))


def no_socket(attack: str, *arguments: int) -> None:
    probe(attack)(lambda: denied(lambda: socket.socket(*arguments).close()))


def main(probes: dict[str, Probe] = PROBES) -> None:
    HOST.update(json.loads(sys.stdin.read()))
    for attack, function in probes.items():
        try:
            passed, detail = True, function()
        except Escaped as error:
            passed, detail = False, str(error)
        except Exception as error:
            passed, detail = False, f"the probe itself failed: {error!r}"
        sys.stdout.write(json.dumps({"attack": attack, "passed": passed, "detail": detail}) + "\n")
        sys.stdout.flush()  # a later probe may end this process
