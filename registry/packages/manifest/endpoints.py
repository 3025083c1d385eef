"""The endpoint URLs of service and distributed skills, and how they match a network allowlist."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from registry.packages.archive.paths import printable
from registry.packages.manifest.fields import Fields
from registry.packages.problems import gettext_noop

ENDPOINT_TYPES = ("service", "distributed")  # the skill types that run by calling an endpoint
MAX_ENDPOINTS = 8
_MAX_URL_LENGTH = 2_000  # characters
_PORTS = {"https": 443, "http": 80}


def read_endpoints(fields: Fields) -> tuple[str, ...]:
    """The URLs of ``endpoint`` and ``endpoints``, in the order in which they are tried.

    For other skill types, both fields are unknown fields.
    """
    if fields.values.get("type") not in ENDPOINT_TYPES:
        return ()
    single = fields.text("endpoint")
    listed = fields.texts("endpoints")
    addresses = dict.fromkeys([*([single] if single else []), *listed])
    valid = [address for address in addresses if _is_valid(fields, address, single)]
    if len(valid) > MAX_ENDPOINTS:
        fields.note_value("endpoints", found=len(valid), expected=gettext_noop("a list of at most 8 URLs"))
    return tuple(valid[:MAX_ENDPOINTS])


def _is_valid(fields: Fields, address: str, single: str) -> bool:
    if len(address) <= _MAX_URL_LENGTH and origin_of(address):
        return True
    expected = gettext_noop("an https:// URL without a user name")
    field = "endpoint" if address == single else "endpoints"
    fields.note_value(field, found=printable(address), expected=expected)
    return False


def origin_of(address: str) -> tuple[str, int] | None:
    """Host and port of an HTTP(S) URL; None for other URLs, or with a user name, space or backslash."""
    if any(character <= " " or character == "\x7f" for character in address) or "\\" in address:
        return None
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").rstrip(".").encode("idna").decode().lower(), parts.port
    except ValueError:  # includes UnicodeError
        return None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
        return None
    return host, _PORTS[parts.scheme] if port is None else port


def is_allowed(address: str, allowlist: Iterable[str]) -> bool:
    """Whether the allowlist contains the host of the URL; an entry with a port allows only that port."""
    origin = origin_of(address)
    return origin is not None and any(_entry_matches(entry, *origin) for entry in allowlist)


def _entry_matches(entry: str, host: str, port: int) -> bool:
    """Whether host and port match the entry. ``*.example.org`` matches every name below ``example.org``."""
    parts = urlsplit(entry if "://" in entry else f"//{entry}")
    try:
        entry_host, entry_port = (parts.hostname or "").rstrip(".").lower(), parts.port
    except ValueError:
        return False
    if entry_port is None:
        entry_port = _PORTS.get(parts.scheme)
    if entry_port is not None and entry_port != port:
        return False
    return host.endswith(entry_host[1:]) if entry_host.startswith("*.") else host == entry_host
