"""The client address of the current request, for the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[str] = ContextVar("client_address", default="")


@contextmanager
def bind(address: str) -> Iterator[None]:
    """Context manager that sets the address, in the current thread or task only."""
    token = _current.set(address)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> str:
    """The address of the client; "" in commands and workers."""
    return _current.get()
