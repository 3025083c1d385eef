"""Lists the additions that a maintainer can make to a version: needs of its scripts that the package does not
declare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from registry.additions.additions import AdditionKind, additions_of
from registry.core.sql import Reads, prepared, reader
from registry.models import Version
from registry.packages.reserved_variables import is_reserved
from registry.versions.needs.version_needs import Need, undeclared_needs

Addition = tuple[str, str]  # kind and name
_SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")  # as in registry.secrets


@dataclass(frozen=True)
class Offer:
    """A need that can be added. ``required`` is False for a library that the scripts can work without."""

    kind: AdditionKind
    name: str
    required: bool = True


@dataclass(frozen=True)
class OfferedAdditions:
    """The needs that can be added. ``unmapped`` are imported modules without a known distribution. They can't
    be added, because another project may own the distribution that has the module's name.
    """

    offers: tuple[Offer, ...] = ()
    unmapped: tuple[str, ...] = ()

    def has(self, kind: str, name: str) -> bool:
        return any((offer.kind, offer.name) == (kind, name) for offer in self.offers)


def offered_additions(version: Version) -> OfferedAdditions:
    """The needs that can be added to the version, including those that are already added."""
    needs = undeclared_needs(version)
    offers: dict[tuple[str, str], Offer] = {}
    for offer in (each for need in needs for each in _offers(need)):
        known = offers.get((offer.kind, offer.name), offer)
        offers[offer.kind, offer.name] = offer if offer.required else known
    unmapped = (need.name for need in needs if need.kind == "module" and not need.library)
    return OfferedAdditions(tuple(offers.values()), tuple(dict.fromkeys(unmapped)))


def _offers(need: Need) -> Iterator[Offer]:
    if need.kind == "module":
        if need.library:
            yield Offer("library", need.library, need.required)
    elif need.kind == "program":
        yield Offer("program", need.name)
    elif need.kind == "host":
        yield Offer("host", need.name.lower())
    elif _SECRET_NAME.fullmatch(need.name) and not is_reserved(need.name):
        yield Offer("secret", need.name)


@reader
def earlier_version_with_additions(version: Version) -> Reads[Version | None]:
    """The next lower version that is not held, if it has additions."""
    yield (rows := _next_lower(version.skill_id, version.precedence))
    earlier = next(iter(rows), None)
    return earlier if earlier and earlier.additions else None


@prepared
def _next_lower(skill: int, precedence: str) -> QuerySet[Version]:
    lower = Version.objects.unheld().filter(skill_id=skill, precedence__lt=precedence)
    return lower.only("number", "additions").order_by("-precedence")[:1]


@reader
def earlier_additions(
    version: Version, offered: OfferedAdditions
) -> Reads[tuple[Version | None, list[Addition]]]:
    """The next lower version, and those of its additions that ``version`` needs and lacks.

    (None, []) if there are none to add.
    """
    earlier = yield from earlier_version_with_additions.reads(version)
    if earlier is None:
        return None, []
    present = additions_of(version)
    rows = [(row["kind"], row["name"]) for row in earlier.additions]
    wanted = [each for each in rows if offered.has(*each) and each[1] not in getattr(present, each[0])]
    return (earlier, wanted) if wanted else (None, [])
