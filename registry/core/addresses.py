"""Builds absolute URLs from the site's public URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings

_prefix: ContextVar[str] = ContextVar("prefix", default="")


def absolute_url(path: str) -> str:
    """The public URL of a path such as "/skills/". Ignores the Host header, because clients control it.
    The path starts with the prefix of ``set_url_prefix``.
    """
    return f"{settings.SKILLQUAY_PUBLIC_URL.rstrip('/')}/{_prefix.get()}{path.lstrip('/')}"


def has_url_prefix() -> bool:
    """Whether public URLs start with a prefix, because the client can send no header."""
    return bool(_prefix.get())


def set_url_prefix(prefix: str) -> None:
    """Sets the start of the paths of public URLs, such as ``c/SECRET/``, until the end of the
    ``reset_url_prefix`` block.
    """
    _prefix.set(prefix)


@contextmanager
def reset_url_prefix() -> Iterator[None]:
    """Context manager whose block starts without a prefix. A prefix set in the block ends with it."""
    token = _prefix.set("")
    try:
        yield
    finally:
        _prefix.reset(token)
