"""Decides which hosts and IP addresses requests may reach: public ones and those that the site allows."""

import ipaddress
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from django.conf import settings

from registry.http_client.errors import OUTBOUND_ADDRESS, OUTBOUND_FAILED, OUTBOUND_REFUSED
from registry.packages.problems import LazyMessage, Refusal, gettext_noop

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# ``is_global`` is true for these, but they are not internet hosts: addresses that clouds and emulators serve
# locally, 6to4 relays, and documentation ranges.
_NOT_INTERNET = tuple(
    map(
        ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "fec0::/10", "3fff::/20")
    )
)
_URL_SAFE = "%/:?#[]@!$&'()*+,;=~-._"  # characters that are not percent-encoded
_NOT_HTTPS = gettext_noop("it must start with https:// and a host")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Target:
    """A URL whose form is valid and whose host is not resolved yet. ``path`` is percent-encoded and includes
    the query.
    """

    url: str
    scheme: str
    host: str  # ASCII, lower case, without brackets, as in certificates
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def parse_target(url: str) -> Target:
    """Parses an http or https URL. Raises OUTBOUND_ADDRESS if the scheme, host or port is invalid, or if the
    URL contains a user name, spaces or control characters.
    """
    if any(character <= " " or character == "\x7f" or "\ud800" <= character <= "\udfff" for character in url):
        raise _invalid_address(gettext_noop("it contains spaces or control characters"))
    try:
        parts = urlsplit(url)
        host, port = _ascii_host(parts.hostname or ""), parts.port
    except ValueError:  # includes UnicodeError
        raise _invalid_address(gettext_noop("its host or port is invalid")) from None
    if parts.scheme not in _PORTS or not host:
        raise _invalid_address(_NOT_HTTPS)
    if "@" in parts.netloc:
        raise _invalid_address(gettext_noop("it contains a user name"))
    path = parts._replace(scheme="", netloc="", fragment="", path=parts.path or "/").geturl()
    port = _PORTS[parts.scheme] if port is None else port
    return Target(url, parts.scheme, host, port, quote(path, safe=_URL_SAFE))


def parse_redirect(current: Target, location: str) -> Target:
    """Parses a ``Location`` header, which may be relative. Raises OUTBOUND_ADDRESS like ``parse_target``."""
    try:
        url = urljoin(current.url, location)
    except ValueError:
        raise _invalid_address(gettext_noop("its host or port is invalid")) from None
    return parse_target(url)


def _ascii_host(name: str) -> str:
    if ":" in name:
        return str(ipaddress.IPv6Address(name))
    return name.rstrip(".").encode("idna").decode().lower()


def resolve_target(target: Target) -> list[str]:
    """Resolves the host once and returns its allowed addresses. Raises OUTBOUND_FAILED if the host can't be
    resolved, and OUTBOUND_REFUSED (for http, OUTBOUND_ADDRESS) if none of its addresses is allowed.
    """
    addresses = _resolve(target)
    if not _is_host_allowed(target):
        addresses = [address for address in addresses if _is_allowed(address, target.scheme)]
    if not addresses and target.scheme == "http":
        raise _invalid_address(_NOT_HTTPS)
    if not addresses:
        raise OUTBOUND_REFUSED.refusal(host=target.host).at(target.host)
    return [str(address) for address in addresses]


def resolve_host(host: str, port: int) -> list[str]:
    """The host's addresses that connections of any protocol may use: public ones and those in
    SKILLQUAY_OUTBOUND_ALLOW. Raises OUTBOUND_FAILED if the host can't be resolved, and OUTBOUND_REFUSED if
    none of its addresses is allowed.
    """
    return resolve_target(Target("", "https", host, port, "/"))


def _is_allowed(address: Address, scheme: str) -> bool:
    return _is_network_allowed(address) or (
        scheme == "https" and is_public(address) and not is_local(address)
    )


def is_local(address: Address) -> bool:
    """Whether the address belongs to this machine, whose services may be protected only by a firewall. Always
    False if the kernel lets sockets bind to addresses of other machines.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
        return not _allows_nonlocal_bind(address.version)


def _allows_nonlocal_bind(version: int) -> bool:
    switch = Path(f"/proc/sys/net/ipv{version}/ip_nonlocal_bind")
    return switch.exists() and switch.read_text().strip() != "0"


def is_public(address: Address) -> bool:
    """Whether the address belongs to the public internet. An IPv6 address that embeds IPv4 addresses is
    public only if all of those are.
    """
    inner = list(_embedded_ipv4(address))
    if inner:
        return all(is_public(each) for each in inner)
    if any(address.version == network.version and address in network for network in _NOT_INTERNET):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded_ipv4(address: Address) -> Iterator[ipaddress.IPv4Address]:
    if not isinstance(address, ipaddress.IPv6Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64 or int(address) < 2**32:  # second: IPv4-compatible addresses (deprecated)
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _resolve(target: Target) -> list[Address]:
    try:
        rows = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # ValueError: a null byte or a label that is too long
        reason = LazyMessage(gettext_noop("its name can't be resolved"))
        raise OUTBOUND_FAILED.refusal(host=target.host, reason=reason).at(target.host) from None
    return list(dict.fromkeys(ipaddress.ip_address(row[4][0]) for row in rows))


def _is_host_allowed(target: Target) -> bool:
    """Whether SKILLQUAY_OUTBOUND_ALLOW lists the host, with this port or without a port."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    names = {entry.lower() for entry in settings.SKILLQUAY_OUTBOUND_ALLOW}
    return bool({target.host, host, f"{host}:{target.port}"} & names)


def _allowed_networks() -> Iterator[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    for entry in settings.SKILLQUAY_OUTBOUND_ALLOW:
        try:
            yield ipaddress.ip_network(entry)
        except ValueError:
            continue  # a host name


def _is_network_allowed(address: Address) -> bool:
    return any(address.version == network.version and address in network for network in _allowed_networks())


def _invalid_address(reason: str) -> Refusal:
    return OUTBOUND_ADDRESS.refusal(reason=LazyMessage(reason)).at("location")
