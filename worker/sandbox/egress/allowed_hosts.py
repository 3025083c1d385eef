"""Parses network allowlists and decides which hosts and ports a run may reach."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from worker.sandbox.errors import NETWORK_ADDRESS_LITERAL, NETWORK_HOST_REFUSED, NETWORK_PORT_REFUSED

_PORTS = {"http://": 80, "https://": 443}
_DEFAULT_PORTS = frozenset(_PORTS.values())
_ENTRY = re.compile(r"(https?://)?(\[[0-9a-f:.]+\]|[^/:]+)(?::(\d{1,5}))?(?:/.*)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)


@dataclass(frozen=True)
class AllowedHost:
    """An entry with its ports. ``host`` is a name, an IP address, or ``*.`` and a name for its subdomains."""

    host: str
    ports: frozenset[int]

    def covers(self, host: str) -> bool:
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return host == self.host


def parse_allowlist(entries: Iterable[str]) -> tuple[AllowedHost, ...]:
    """Parses allowlist entries, which are hosts or URLs; ignores the path of a URL. Skips invalid entries.

    An entry without a port or scheme allows the ports 80 and 443.
    """
    parsed = []
    for entry in entries:
        match = _ENTRY.fullmatch(entry.strip())
        if match:
            scheme, host, port = match.groups()
            chosen = int(port) if port else _PORTS.get((scheme or "").lower())
            parsed.append(
                AllowedHost(normalize_host(host), frozenset({chosen}) if chosen else _DEFAULT_PORTS)
            )
    return tuple(parsed)


def refusal_code(host: str, port: int, allowed: Iterable[AllowedHost]) -> str:
    """The error code if the normalized host or its port is not allowed; "" if both are allowed."""
    covering = [entry for entry in allowed if entry.covers(host)]
    if is_address_literal(host) and not covering:
        return NETWORK_ADDRESS_LITERAL.name
    if not covering:
        return NETWORK_HOST_REFUSED.name
    return "" if any(port in entry.ports for entry in covering) else NETWORK_PORT_REFUSED.name


def normalize_host(host: str) -> str:
    """The host in the form for comparison: lower case, ASCII, no trailing dot, IP addresses without brackets.

    Does not convert an IP address in an unusual form (``0x7f.1``, ``2130706433``), so that it can't match an
    entry in the usual form.
    """
    bare = host.strip("[]").rstrip(".").lower()
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        pass
    try:
        star = "*." if bare.startswith("*.") else ""
        return star + bare.removeprefix("*.").encode("idna").decode()
    except UnicodeError:
        return bare


def is_address_literal(host: str) -> bool:
    """Whether a resolver would treat the host as an IP address rather than a name."""
    return ":" in host or bool(_NUMBER.fullmatch(host.rpartition(".")[2]))
