"""Where a service or distributed skill is served: the addresses it declares, and the hosts it may ask."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from registry.packages.fields import Fields
from registry.packages.paths import shown
from registry.packages.problems import gettext_noop

SERVED = ("service", "distributed")  # the types that may be run by asking an endpoint
MOST = 8
_LONGEST = 2_000  # characters
_PORTS = {"https": 443, "http": 80}


def read_endpoints(fields: Fields) -> tuple[str, ...]:
    """``endpoint``, one address, and ``endpoints``, several, in the order in which they are asked.

    Of other types these are fields like any that nothing here knows.
    """
    if fields.values.get("type") not in SERVED:
        return ()
    one = fields.text("endpoint")
    several = fields.texts("endpoints")
    named = dict.fromkeys([*([one] if one else []), *several])
    kept = [address for address in named if _is_sound(fields, address, one)]
    if len(kept) > MOST:
        fields.note("FIELD_VALUE", "endpoints", found=len(kept), expected=gettext_noop("at most 8"))
    return tuple(kept[:MOST])


def _is_sound(fields: Fields, address: str, one: str) -> bool:
    if len(address) <= _LONGEST and origin_of(address):
        return True
    expected = gettext_noop("an https:// address without a user name")
    field = "endpoint" if address == one else "endpoints"
    fields.note("FIELD_VALUE", field, found=shown(address), expected=expected)
    return False


def origin_of(address: str) -> tuple[str, int] | None:
    """Host and port of an address; None where it is no http address, or holds a user name or blanks."""
    if any(character <= " " or character == "\x7f" for character in address) or "\\" in address:
        return None
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").rstrip(".").encode("idna").decode().lower(), parts.port
    except ValueError:  # UnicodeError too
        return None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
        return None
    return host, _PORTS[parts.scheme] if port is None else port


def is_allowed(address: str, allowlist: Iterable[str]) -> bool:
    """Whether a host of the list is the address's; an entry's port counts where it names one."""
    origin = origin_of(address)
    return origin is not None and any(_reaches(entry, *origin) for entry in allowlist)


def _reaches(entry: str, host: str, port: int) -> bool:
    """Only host and port of an entry count; ``*.example.org`` means every name below."""
    parts = urlsplit(entry if "://" in entry else f"//{entry}")
    try:
        named, told = (parts.hostname or "").rstrip(".").lower(), parts.port
    except ValueError:
        return False
    if told is None:
        told = _PORTS.get(parts.scheme)
    if told is not None and told != port:
        return False
    return host.endswith(named[1:]) if named.startswith("*.") else host == named
