"""Which host and port a run may reach: the allowlist of its manifest, read as the proxy enforces it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

_PORTS = {"http://": 80, "https://": 443}
_USUAL = frozenset(_PORTS.values())
_ENTRY = re.compile(r"(https?://)?(\[[0-9a-f:.]+\]|[^/:]+)(?::(\d{1,5}))?(?:/.*)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)


@dataclass(frozen=True)
class Allowed:
    """One entry: a name, ``*.`` before it for every name below, or an address; the ports it opens."""

    host: str
    ports: frozenset[int]

    def covers(self, host: str) -> bool:
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return host == self.host


def read(entries: Iterable[str]) -> tuple[Allowed, ...]:
    """The entries as enforced; of an address with a path only host and port count."""
    found = []
    for entry in entries:
        match = _ENTRY.fullmatch(entry.strip())
        if match:
            scheme, host, port = match.groups()
            chosen = int(port) if port else _PORTS.get((scheme or "").lower())
            found.append(Allowed(name(host), frozenset({chosen}) if chosen else _USUAL))
    return tuple(found)


def why_not(host: str, port: int, allowed: Iterable[Allowed]) -> str:
    """ "" where the host and port are allowed, else the code of the refusal."""
    covering = [entry for entry in allowed if entry.covers(host)]
    if is_literal(host) and not covering:
        return "NETWORK_ADDRESS_LITERAL"
    if not covering:
        return "NETWORK_HOST_REFUSED"
    return "" if any(port in entry.ports for entry in covering) else "NETWORK_PORT_REFUSED"


def name(host: str) -> str:
    """A host in the one form in which hosts are compared: small, ASCII, an address without brackets.

    An address in a form of its own (``0x7f.1``, ``2130706433``) stays as it is, and so is equal to none.
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


def is_literal(host: str) -> bool:
    """Whether a resolver would take it for an address rather than a name."""
    return ":" in host or bool(_NUMBER.fullmatch(host.rpartition(".")[2]))
