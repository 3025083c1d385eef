"""Runs inside a sandbox: tries one probe after another and prints a JSON line for each.

A probe returns the control that stopped it, or raises ``Escaped``. Facts about the host arrive as JSON on
stdin, such as a listening port, the worker's pid, paths and system call numbers. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

HOST: dict[str, Any] = {}
LIBC = ctypes.CDLL(None, use_errno=True)
Probe = Callable[[], str]


class Escaped(Exception):
    """Raised if the attack succeeded."""


class ProbeSet(dict[str, Probe]):
    """Probes by the name of their attack, in the order in which they are tried."""

    def add(self, attack: str) -> Callable[[Probe], Probe]:
        def register(function: Probe) -> Probe:
            self[attack] = function
            return function

        return register

    def add_calls(self, attack: str, *names: str) -> None:
        self[attack] = lambda: "; ".join(call(name) for name in names)

    def add_socket(self, attack: str, *arguments: int) -> None:
        self[attack] = lambda: denied(lambda: socket.socket(*arguments).close())


def call(name: str, *arguments: Any) -> str:
    """Tries a system call and returns its error; raises Escaped unless the error is EPERM or ENOSYS.

    Returns a note instead if this architecture lacks the call.
    """
    number = HOST["numbers"].get(name)
    if number is None:
        return f"{name}: missing on this architecture"
    ctypes.set_errno(0)
    result = LIBC.syscall(ctypes.c_long(number), *(arguments or [ctypes.c_long(0)] * 6))
    error = ctypes.get_errno()
    if result >= 0 or error not in (errno.EPERM, errno.ENOSYS):
        raise Escaped(f"{name}: returned {result}, {errno.errorcode.get(error, error)}")
    return f"{name}: {errno.errorcode[error]}"


def denied(action: Callable[[], object]) -> str:
    """The text of the OSError or ValueError that ``action`` raises; raises Escaped if it succeeds."""
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
    return "missing or denied: " + ", ".join(paths)


def unwritable(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, "w"):
                raise Escaped(f"{path} was opened for writing")
        except OSError:
            continue
    return "denied: " + ", ".join(paths)


def in_child(action: Callable[[], object]) -> int:
    """Runs ``action`` in a child process; returns the child's wait status."""
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


def main(modules: list[str]) -> None:
    """Reads HOST from stdin, tries the ``PROBES`` of the named modules, and prints the results."""
    HOST.update(json.loads(sys.stdin.read()))
    for module in modules:
        for attack, probe in importlib.import_module(module).PROBES.items():
            try:
                passed, detail = True, probe()
            except Escaped as error:
                passed, detail = False, str(error)
            except Exception as error:
                passed, detail = False, f"the probe itself failed: {error!r}"
            sys.stdout.write(json.dumps({"attack": attack, "passed": passed, "detail": detail}) + "\n")
            sys.stdout.flush()  # a later probe may end this process
