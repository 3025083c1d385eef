"""As what a skill is offered to an agent: by which name, in which version, with which words.

A stranger's skill that is canonical is offered as the pinned version that was accepted: a later one of its
publisher must not write into anybody's prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from django.db import connection
from django.db.models import Count, Q, QuerySet

from registry import bulk, subscriptions
from registry.actors import Actor
from registry.listing.plain import one_line
from registry.models import Canonical, Skill
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest


@dataclass(frozen=True)
class Offer:
    """``name`` loads exactly this skill."""

    skill: Skill
    name: str
    text: str
    version: int  # its key
    number: str


def offers(skills: Iterable[Skill], actor: Actor, reachable: QuerySet[Skill]) -> dict[int, Offer]:
    """Each skill's offer by its key."""
    wanted = list(skills)
    pinned = pins(actor, wanted)
    shared = _shared({skill.slug for skill in wanted}, reachable)
    return {skill.pk: _offer(skill, pinned.get(skill.pk), shared) for skill in wanted}


def pins(actor: Actor, skills: Iterable[Skill] | None = None) -> Mapping[int, Canonical]:
    """Of the skills that are offered only because they are canonical, by which name, pinned to what."""
    keys = pinned_to(actor)
    return pinned_rows(keys, keys if skills is None else (skill.pk for skill in skills))


def pinned_rows(keys: Mapping[int, tuple[int, int]], skills: Iterable[int]) -> dict[int, Canonical]:
    """Those of these skills, each with the version that is answered."""
    wanted = [keys[skill][0] for skill in skills if skill in keys]
    if not wanted:
        return {}
    found = Canonical.objects.select_related("version").defer("version__body").in_bulk(wanted)
    return {row.skill_id: row for row in found.values() if row.skill_id}


def pinned_to(actor: Actor) -> Mapping[int, tuple[int, int]]:
    """The same by keys alone, of the canonical name and of the version: every match asks."""
    if not bulk.read("SELECT 1 FROM registry_canonical LIMIT 1", ()):
        return {}  # as on most sites
    asker = _Asker(
        actor.is_shell,
        actor.is_administrator,
        actor.is_signed_in,
        actor.team_ids,
        subscriptions.trusted_teams(actor),
    )
    rows = bulk.read(*_statement(asker, connection.vendor))
    return {skill: (key, version) for skill, key, version in rows if skill and version}


@dataclass(frozen=True)
class _Asker:
    """All of an actor that the statement below depends on: putting it together takes longer than a match."""

    is_shell: bool
    is_administrator: bool
    is_signed_in: bool
    team_ids: frozenset[int]
    trusted: frozenset[int]


@lru_cache(maxsize=512)
def _statement(asker: _Asker, vendor: str) -> tuple[str, Sequence[Any]]:
    """A trusted team's are, too, where their latest versions are not for agents or were reported."""
    followed = Q(skill__team__in=asker.trusted) | Q(skill__is_bundled=True)
    told = Q(skill__team__in=asker.team_ids) | (followed & Q(skill__is_reported=False))
    own = Q(skill__for_agents=True) & (Q() if asker.is_shell else told)
    rows = Canonical.objects.offered_to(cast(Actor, asker)).exclude(own).order_by("-pk")
    sql: tuple[str, Sequence[Any]] = rows.values_list("skill_id", "pk", "version_id").query.sql_with_params()
    return sql


def said_by(pin: Canonical) -> Manifest:
    """What the accepted version says of itself."""
    if pin.version is None:
        raise ValueError(f"{pin} was purged and is offered")
    return manifest_of(pin.version.manifest)


def _offer(skill: Skill, pin: Canonical | None, shared: Collection[str]) -> Offer:
    if pin and pin.version:
        said: dict[str, Any] = pin.version.manifest
        text = _text(said.get("description", ""), said.get("when_to_use", ""))
        return Offer(skill, str(pin), text, pin.version.pk, pin.version.number)
    name = str(skill) if skill.slug in shared else skill.slug
    number = skill.latest.number if skill.latest else ""
    return Offer(skill, name, _text(skill.description, skill.when_to_use), skill.latest_id or 0, number)


def _shared(slugs: Collection[str], reachable: QuerySet[Skill]) -> set[str]:
    """The slugs that several of the reachable skills have."""
    same = reachable.filter(slug__in=slugs).order_by().values("slug").annotate(count=Count("pk"))
    return set(same.filter(count__gt=1).values_list("slug", flat=True))


def _text(*said: str) -> str:
    return " - ".join(part for part in map(one_line, said) if part)
