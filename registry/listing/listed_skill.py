"""The name, version and text under which a skill is listed for an agent.

A skill that is recommended only because it is canonical is listed by its pinned version. A later version
therefore can't write into other teams' prompts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from registry.core.prompt_text import neutralize_markup, one_line
from registry.identity.actors import Actor
from registry.listing import sql
from registry.models import Canonical, Skill
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
    skills: Iterable[Skill], actor: Actor, reachable: QuerySet[Skill]
) -> dict[int, ListedSkill]:
    """The listed form of each skill, by skill id. A slug that several skills in ``reachable`` have is listed
    as team/slug.
    """
    wanted = list(skills)
    pinned = canonical_pins(actor, wanted)
    shared = _shared_slugs({skill.slug for skill in wanted}, reachable)
    return {skill.pk: _listed_skill(skill, pinned.get(skill.pk), shared) for skill in wanted}


def canonical_pins(actor: Actor, skills: Iterable[Skill] | None = None) -> Mapping[int, Canonical]:
    """The canonical rows, by skill id, of skills that are recommended only because they are canonical. With
    ``skills``, only the rows of these skills.
    """
    keys = pin_keys(actor)
    return load_pins(keys, keys if skills is None else (skill.pk for skill in skills))


def load_pins(keys: Mapping[int, tuple[int, int]], skills: Iterable[int]) -> dict[int, Canonical]:
    """The canonical rows of these skills with their pinned versions, by skill id. ``keys`` is the result of
    ``pin_keys``; skills that it lacks are omitted.
    """
    wanted = [keys[skill][0] for skill in skills if skill in keys]
    if not wanted:
        return {}
    found = Canonical.objects.select_related("version").defer("version__body").in_bulk(wanted)
    return {row.skill_id: row for row in found.values() if row.skill_id}


def pin_keys(actor: Actor) -> Mapping[int, tuple[int, int]]:
    """The canonical id and version id, by skill id, of skills recommended to the actor only as canonical.

    Loads only ids, because every match needs them.
    """
    if not sql.has_canonical_skills():
        return {}  # saves a query: most sites have no canonical skills
    return {skill: (key, version) for skill, key, version in sql.pin_rows(actor) if skill and version}


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


def _shared_slugs(slugs: Collection[str], reachable: QuerySet[Skill]) -> set[str]:
    same = reachable.filter(slug__in=slugs).order_by().values("slug").annotate(count=Count("pk"))
    return set(same.filter(count__gt=1).values_list("slug", flat=True))


def _join_texts(*manifest: str) -> str:
    return " - ".join(part for part in map(one_line, manifest) if part)
