"""As what a skill is offered to an agent: by which name, in which version, with which words.

A stranger's skill that is canonical is offered as the pinned version that was accepted: a later one of its
publisher must not write into anybody's prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
    """Of the skills that are offered only because they are canonical, by which name, pinned to what.

    Those of teams that the actor trusts are, where their latest versions are not for agents or reported.
    """
    if not bulk.read("SELECT 1 FROM registry_canonical LIMIT 1", ()):
        return {}  # as on most sites, and every match asks
    followed = Q(skill__team__in=subscriptions.trusted_teams(actor)) | Q(skill__is_bundled=True)
    trusted = Q(skill__team__in=actor.team_ids) | (followed & Q(skill__is_reported=False))
    own = Q(skill__for_agents=True) & (Q() if actor.is_shell else trusted)
    rows = Canonical.objects.offered_to(actor).exclude(own)
    if skills is not None:
        rows = rows.filter(skill__in=[skill.pk for skill in skills])
    found = rows.select_related("version").defer("version__body").order_by("-pk")
    return {row.skill_id: row for row in found if row.skill_id}


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
