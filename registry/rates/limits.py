"""Rate limits: how many requests of a kind a caller may send per minute."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest

from registry.identity.actors import Actor
from registry.rates import counters
from registry.rates.errors import RATE_LIMITED

_IPV6_NETWORK_BITS = 64  # a subscriber has at least one such network


class RateLimit(StrEnum):
    SIGN_IN = "sign_in"
    SEARCH = "search"
    MATCH = "match"
    PUBLISH = "publish"
    RUN = "run"
    SHARE_LINK = "share_link"  # links that do not work


def count_request(request: HttpRequest, actor: Actor, kind: RateLimit) -> None:
    """Counts the request for the signed-in caller or the client's address, and sets ``request.rate_status``.
    Raises RATE_LIMITED above the limit. If the limit is 0, does nothing.

    Call this outside transactions, so that a rollback can't undo the count.
    """
    limit = settings.SKILLQUAY_RATE_LIMITS[kind]
    if not limit:
        return
    caller = actor.caller if actor.is_signed_in else network_of(request.META.get("REMOTE_ADDR", ""))
    status = counters.counter.count(f"{kind}:{caller}", limit)
    request.rate_status = status  # type: ignore[attr-defined]
    if status.count > limit:
        raise RATE_LIMITED.refusal(limit=limit, retry_after_s=status.reset_s)


def network_of(address: str) -> str:
    """The address; for IPv6 its /64 network, because one client can use every address in it."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> _IPV6_NETWORK_BITS << _IPV6_NETWORK_BITS))
