"""The name, version and text under which a skill is listed for an agent.

A skill that is recommended only because it is canonical is listed by its pinned version. A later version
therefore can't write into other teams' prompts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from registry.core.prompt_text import neutralize_markup, one_line
from registry.core.sql import Reads, prepared, reader
from registry.identity.actors import Actor
from registry.models import Canonical, Skill, Subscription
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest


@dataclass(frozen=True)
class ListedSkill:
    """A skill as it is listed. Loading ``name`` loads exactly this skill."""

    skill: Skill
    name: str
    text: str
    version: int  # version id
    number: str
    display_name: str

    @property
    def label(self) -> str:
        """The display name, followed by ``name`` in parentheses if it differs."""
        shown = neutralize_markup(self.display_name)
        return self.name if shown in ("", self.name) else f"{shown} ({self.name})"


def listed_skills(
    skills: Iterable[Skill], pinned: Mapping[int, Canonical], shared_slugs: Collection[str]
) -> dict[int, ListedSkill]:
    """The listed form of each skill, by skill id. ``pinned`` is the result of ``canonical_pins``. Skills with
    a slug in ``shared_slugs`` are listed as team/slug.
    """
    return {skill.pk: _listed_skill(skill, pinned.get(skill.pk), shared_slugs) for skill in skills}


@reader
def canonical_pins(actor: Actor) -> Reads[Mapping[int, Canonical]]:
    """The canonical rows with their pinned versions, by skill id, of skills that are recommended only because
    they are canonical.
    """
    yield (rows := _pins(actor))
    return {row.skill_id: row for row in rows if row.skill_id}


@reader
def load_pins(keys: Mapping[int, tuple[int, int]], skills: Iterable[int]) -> Reads[dict[int, Canonical]]:
    """The canonical rows of these skills with their pinned versions, by skill id. ``keys`` is the result of
    ``pin_keys``; skills that it lacks are omitted.
    """
    wanted = [keys[skill][0] for skill in skills if skill in keys]
    if not wanted:
        return {}
    yield (found := _with_version(Canonical.objects.filter(pk__in=wanted)))
    return {row.skill_id: row for row in found if row.skill_id}


@reader
def pin_keys(actor: Actor) -> Reads[Mapping[int, tuple[int, int]]]:
    """The canonical id and version id, by skill id, of skills recommended to the actor only as canonical.

    Loads only ids, because every match needs them.
    """
    yield (rows := _pin_keys(actor))
    return {skill: (key, version) for skill, key, version in rows if skill and version}


@prepared
def _pins(actor: Actor) -> QuerySet[Canonical]:
    return _with_version(_only_as_canonical(actor))


@prepared
def _pin_keys(actor: Actor) -> QuerySet[Canonical, tuple[int | None, int, int | None]]:
    return _only_as_canonical(actor).values_list("skill_id", "pk", "version_id")


def _with_version(rows: QuerySet[Canonical]) -> QuerySet[Canonical]:
    return rows.select_related("version").defer("version__body")


def _only_as_canonical(actor: Actor) -> QuerySet[Canonical]:
    """Excludes skills that are recommended anyway, because they are for agents and from a trusted source."""
    publishers = Subscription.objects.filter(team__in=actor.team_ids).values("publisher")
    followed = Q(skill__team__in=publishers) | Q(skill__is_bundled=True)
    from_team = Q(skill__team__in=actor.team_ids) | (followed & Q(skill__is_reported=False))
    own = Q(skill__for_agents=True) & (Q() if actor.is_shell else from_team)
    return Canonical.objects.discoverable_by(actor).exclude(own).order_by("-pk")


def pinned_manifest(pin: Canonical) -> Manifest:
    if pin.version is None:
        raise ValueError(f"{pin} has no version and can't be listed")
    return manifest_of(pin.version.manifest)


def _listed_skill(skill: Skill, pin: Canonical | None, shared: Collection[str]) -> ListedSkill:
    if pin and pin.version:
        manifest: dict[str, Any] = pin.version.manifest
        text = _join_texts(manifest.get("description", ""), manifest.get("when_to_use", ""))
        return ListedSkill(skill, str(pin), text, pin.version.pk, pin.version.number, one_line(pin.name))
    name = str(skill) if skill.slug in shared else skill.slug
    number = skill.latest.number if skill.latest else ""
    text = _join_texts(skill.description, skill.when_to_use)
    return ListedSkill(skill, name, text, skill.latest_id or 0, number, one_line(skill.name))


def _join_texts(*manifest: str) -> str:
    return " - ".join(part for part in map(one_line, manifest) if part)
