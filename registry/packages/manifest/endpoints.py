"""Reads the endpoint URLs of service and distributed skills, and matches them against a network allowlist."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from registry.packages.archive.paths import printable
from registry.packages.manifest.fields import Fields
from registry.packages.problems import LazyMessage, gettext_noop

ENDPOINT_TYPES = ("service", "distributed")  # the skill types that run by calling an endpoint
MAX_ENDPOINTS = 8
_MAX_URL_LENGTH = 2_000  # characters
_PORTS = {"https": 443, "http": 80}


def read_endpoints(fields: Fields) -> tuple[str, ...]:
    """The valid URLs of ``endpoint`` and ``endpoints``, at most 8, in the order in which they are tried.

    Invalid and excess URLs add problems to ``fields``. For types other than ENDPOINT_TYPES, the result is
    empty and both fields count as unknown.
    """
    if fields.values.get("type") not in ENDPOINT_TYPES:
        return ()
    single = fields.text("endpoint")
    listed = fields.texts("endpoints")
    addresses = dict.fromkeys([*([single] if single else []), *listed])
    valid = [address for address in addresses if _is_valid(fields, address, single)]
    if len(valid) > MAX_ENDPOINTS:
        found = LazyMessage(gettext_noop("a list of %(count)s URLs"), count=len(valid))
        fields.note_value("endpoints", found=found, expected=gettext_noop("a list of at most 8 URLs"))
    return tuple(valid[:MAX_ENDPOINTS])


def _is_valid(fields: Fields, address: str, single: str) -> bool:
    if len(address) <= _MAX_URL_LENGTH and origin_of(address):
        return True
    expected = gettext_noop(
        "an https:// URL without a user name (http:// only for addresses that the site allows)"
    )
    field = "endpoint" if address == single else "endpoints"
    fields.note_value(field, found=printable(address), expected=expected)
    return False


def origin_of(address: str) -> tuple[str, int] | None:
    """Host (ASCII, lower case) and port of an HTTP(S) URL; None if the URL is invalid or has another scheme.

    URLs with a user name, a backslash, a space or a control character count as invalid.
    """
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
    """Whether an entry of the allowlist allows the host and port of the URL. False for an invalid URL."""
    origin = origin_of(address)
    return origin is not None and any(_entry_matches(entry, *origin) for entry in allowlist)


def _entry_matches(entry: str, host: str, port: int) -> bool:
    """Whether the entry allows the host and port. ``*.example.org`` allows every name below ``example.org``.

    An entry with a port or scheme allows only that port; other entries allow every port.
    """
    try:
        parts = urlsplit(entry if "://" in entry else f"//{entry}")
        entry_host, entry_port = (parts.hostname or "").rstrip(".").lower(), parts.port
    except ValueError:
        return False
    if entry_port is None:
        entry_port = _PORTS.get(parts.scheme)
    if entry_port is not None and entry_port != port:
        return False
    return host.endswith(entry_host[1:]) if entry_host.startswith("*.") else host == entry_host
