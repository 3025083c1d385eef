"""Which addresses may be asked: public ones, and those that the site lists."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from django.conf import settings

from registry.packages.problems import Refused, Said, gettext_noop, refuse

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Called global, and yet no host of the internet's: what clouds and emulators answer on themselves, relays of
# 6to4, what stands in books.
_NEAR = tuple(
    map(
        ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "fec0::/10", "3fff::/20")
    )
)
_WRITTEN = "%/:?#[]@!$&'()*+,;=~-._"  # what stands in an address as it is
_NOT_HTTPS = gettext_noop("it does not begin with https:// and a host")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Target:
    """An address in its parts, checked in form alone; ``path`` holds the query too."""

    url: str
    scheme: str
    host: str  # as certificates name it: without brackets, ASCII, small
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def target(url: str) -> Target:
    """The address taken apart, or refused for its form."""
    if any(character <= " " or character == "\x7f" for character in url):
        raise _malformed(gettext_noop("it holds blanks or control characters"))
    try:
        parts = urlsplit(url)
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:  # UnicodeError too
        raise _malformed(gettext_noop("its host or port makes no sense")) from None
    if parts.scheme not in _PORTS or not host:
        raise _malformed(_NOT_HTTPS)
    if "@" in parts.netloc:
        raise _malformed(gettext_noop("it holds a user name"))
    path = parts._replace(scheme="", netloc="", fragment="", path=parts.path or "/").geturl()
    port = _PORTS[parts.scheme] if port is None else port
    return Target(url, parts.scheme, host, port, quote(path, safe=_WRITTEN))


def _host(name: str) -> str:
    if ":" in name:
        return str(ipaddress.IPv6Address(name))
    return name.rstrip(".").encode("idna").decode().lower()


def dialled(place: Target) -> list[str]:
    """The addresses that may be dialled for it, of one resolution; refused where there is none."""
    found = _resolved(place)
    if not _listed(place):
        found = [address for address in found if _may_be_dialled(address, place.scheme)]
    if not found and place.scheme == "http":
        raise _malformed(_NOT_HTTPS)
    if not found:
        raise refuse("OUTBOUND_REFUSED", path=place.host, host=place.host)
    return [str(address) for address in found]


def addresses_of(host: str, port: int) -> list[str]:
    """The addresses that may be dialled for a host whatever is spoken there: public ones, and listed ones."""
    return dialled(Target("", "https", host, port, "/"))


def _may_be_dialled(address: Address, scheme: str) -> bool:
    return _in_network(address) or (scheme == "https" and is_public(address) and not is_own(address))


def is_own(address: Address) -> bool:
    """Whether it is this machine's: what listens here trusts a firewall that sees what comes from afar."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
        return not _binds_to_any(address.version)


def _binds_to_any(version: int) -> bool:
    """A machine that stands in for others takes every address, and nothing can be told from that."""
    switch = Path(f"/proc/sys/net/ipv{version}/ip_nonlocal_bind")
    return switch.exists() and switch.read_text().strip() != "0"


def is_public(address: Address) -> bool:
    """Global unicast, looked at through every way to write an IPv4 address within an IPv6 one."""
    inner = list(_within(address))
    if inner:
        return all(is_public(each) for each in inner)
    if any(address.version == network.version and address in network for network in _NEAR):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _within(address: Address) -> Iterator[ipaddress.IPv4Address]:
    if not isinstance(address, ipaddress.IPv6Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64 or int(address) < 2**32:  # the latter: IPv4-compatible, long out of use
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _resolved(place: Target) -> list[Address]:
    try:
        rows = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a zero byte or a label that is too long
        reason = Said(gettext_noop("its name cannot be found"))
        raise refuse("OUTBOUND_FAILED", path=place.host, host=place.host, reason=reason) from None
    return list(dict.fromkeys(ipaddress.ip_address(row[4][0]) for row in rows))


def _listed(place: Target) -> bool:
    """Whether the site lists the host by name, with this port or without one."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    names = {entry.lower() for entry in settings.SKILLQUAY_OUTBOUND_ALLOW}
    return bool({place.host, host, f"{host}:{place.port}"} & names)


def _networks() -> Iterator[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    for entry in settings.SKILLQUAY_OUTBOUND_ALLOW:
        try:
            yield ipaddress.ip_network(entry)
        except ValueError:
            continue  # a name


def _in_network(address: Address) -> bool:
    return any(address.version == network.version and address in network for network in _networks())


def _malformed(reason: str) -> Refused:
    return refuse("OUTBOUND_ADDRESS", path="location", reason=Said(reason))
