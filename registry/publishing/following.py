"""What follows a publication on the floors above, within its transaction."""

from __future__ import annotations

from collections.abc import Callable

from registry.models import Version
from registry.packages.package import Package

Follower = Callable[[Version, Package], None]
_followers: list[Follower] = []


def register_publication_follower(follow: Follower) -> None:
    """Names what is told of every new version; called once, when its app is ready."""
    if follow not in _followers:
        _followers.append(follow)


def tell(version: Version, package: Package) -> None:
    for follow in _followers:
        follow(version, package)
