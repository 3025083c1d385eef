"""Implements the agent tools ``skills_list`` and ``skills_load``."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from registry.core import search_terms
from registry.core.errors import NOT_FOUND
from registry.core.prompt_text import one_line, short_line
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.listing import listed_skill
from registry.listing import selection as choosing
from registry.listing.errors import LOAD_NAME_MISSING, LOAD_NOT_FOUND
from registry.listing.formats import files_url
from registry.lookup import canonical as canonical_canonical
from registry.lookup import skills as catalog
from registry.lookup.errors import NO_LATEST, VERSION_HELD
from registry.models import Canonical, File, Skill, UseKind, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.problems import Problem, Refusal
from registry.usage import scores
from registry.usage.recording import note_use, use_of
from registry.versions.content.read_file import read_file

DEFAULT_LIMIT = 100
_SKILL_MD = "SKILL.md"
_UID_LENGTH = 26
_NOT_FOUND_CODES = frozenset({NOT_FOUND.name, NO_LATEST.name, VERSION_HELD.name})


@dataclass(frozen=True)
class LoadableSkill:
    """A skill in ``skills_list``. ``skills_load`` accepts its ``name`` and its ``id``."""

    id: str
    name: str
    description: str
    allowed_tools: tuple[str, ...]


@dataclass(frozen=True)
class LoadableSkills:
    skills: tuple[LoadableSkill, ...]
    more: int


@dataclass(frozen=True)
class LoadedSkill:
    skill: Skill
    version: Version
    content: str  # SKILL.md including front matter
    files: tuple[File, ...]
    notices: tuple[Problem, ...]  # that the version is yanked, deprecated or reported


def skills_list(actor: Actor, *, paths: Collection[str] = (), limit: int = DEFAULT_LIMIT) -> LoadableSkills:
    """At most ``limit`` skills for the actor's agents, in the listing's order, and the number of further
    skills. ``paths`` are the files that the agent works on.
    """
    max_places = min(limit, choosing.MAX_PLACES)
    selection = choosing.select_skills(actor, paths, limit=max_places, now=timezone.now())
    placed = (each.skill for each in selection.placed)
    rows = list(listed_skill.listed_skills(placed, selection.pinned, selection.shared_slugs).values())
    versions = Version.objects.filter(pk__in=[listed.version for listed in rows])
    manifests = dict(versions.values_list("pk", "manifest"))
    return LoadableSkills(
        tuple(_loadable(listed, manifests[listed.version]) for listed in rows),
        selection.total - len(selection.placed),
    )


def skills_load(name: str, actor: Actor, *, is_use: bool = True) -> LoadedSkill:
    """Loads the skill with this id or name, otherwise a skill whose name contains ``name``. With
    ``is_use``, the load counts as a use. Raises the refusals of ``find_loadable``.
    """
    version = find_loadable(name, actor)
    skill, content = version.skill, read_file(version, _SKILL_MD).decode("utf-8-sig")
    if is_use:
        note_use(use_of(version, UseKind.LOAD), actor.caller)
    files = tuple(version.files.order_by("path"))
    return LoadedSkill(skill, version, content, files, catalog.notices(version, actor))


def find_loadable(name: str, actor: Actor) -> Version:
    """The version to load for an id, a name or part of a name. Raises LOAD_NAME_MISSING if it is blank, and
    LOAD_NOT_FOUND if the actor's agents may load no such skill.

    A look-up by id can raise other refusals, such as PURGED or CANONICAL_UNAVAILABLE.
    """
    name = name.strip()
    if not name:
        raise LOAD_NAME_MISSING.refusal().at("name")
    version = _by_id(name, actor) or _by_name(name, actor)
    if version is None or not may(actor, Action.INSTALL, skill=version.skill):
        raise LOAD_NOT_FOUND.refusal(name=one_line(name)[:200]).at("name")
    return version


def loaded_document(loaded: LoadedSkill) -> dict[str, Any]:
    base = files_url(loaded.skill, loaded.version.number)
    manifest = manifest_of(loaded.version.manifest)
    return {
        "id": str(loaded.skill.resolved_canonical or loaded.skill),
        "name": one_line(manifest.display_name or manifest.name),
        "version": loaded.version.number,
        "digest": loaded.version.digest,
        "description": one_line(manifest.description),
        "allowedTools": list(map(one_line, manifest.allowed_tools)),
        "content": loaded.content,
        "location": f"{base}{_SKILL_MD}",
        "base": base,
        "archive": f"{base.removesuffix('files/')}archive",
        "files": [
            {"path": file.path, "size": file.size, "url": f"{base}{quote(file.path)}"}
            for file in loaded.files
        ],
        "notices": [each.document(gettext) for each in loaded.notices],
    }


def loadable_document(found: LoadableSkills) -> dict[str, Any]:
    return {
        "skills": [
            {
                "id": each.id,
                "name": each.name,
                "description": each.description,
                "allowedTools": list(each.allowed_tools),
            }
            for each in found.skills
        ],
        "remaining": found.more,
    }


def _loadable(listed: listed_skill.ListedSkill, manifest: dict[str, Any]) -> LoadableSkill:
    is_pinned = listed.name.startswith(canonical_canonical.PREFIX)
    tools = tuple(map(one_line, manifest_of(manifest).allowed_tools))
    identifier = listed.name if is_pinned else str(listed.skill)
    return LoadableSkill(identifier, listed.display_name, short_line(listed.text), tools)


def _by_id(name: str, actor: Actor) -> Version | None:
    """The version for a team/slug, a canonical name or a skill uid; None if agents can't load it."""
    if "/" not in name and not name.startswith(canonical_canonical.PREFIX):
        if len(name) != _UID_LENGTH:
            return None  # saves a query
        return _answered_version(Skill.objects.recommendable_to(actor).filter(uid=name).first(), actor)
    try:
        version = catalog.find_version_by_label(name, actor)
    except Refusal as refused:
        if refused.code in _NOT_FOUND_CODES:
            return None
        raise
    return None if manifest_of(version.manifest).disable_model_invocation else version


def _by_name(name: str, actor: Actor) -> Version | None:
    """The version of the first skill found by slug, then by name, then by a part of either; None if there is
    none. Of several skills, prefers those of the actor's teams, then the most used.
    """
    reachable, key = Skill.objects.recommendable_to(actor).select_related("team"), search_terms.name_key(name)
    pinned = listed_skill.canonical_pins(actor)

    def matches_name(latest: Q, accepted: Callable[[Canonical], bool]) -> Q:
        """A filter that applies the condition ``accepted`` to skills listed by a pinned version, and
        ``latest`` to all others.
        """
        named = [skill for skill, pin in pinned.items() if accepted(pin)]
        return (latest & ~Q(pk__in=pinned)) | Q(pk__in=named)

    steps = (
        Q(slug=name),
        matches_name(Q(name=name), lambda pin: pin.name == name),
        Q(slug__contains=name.lower()),
        matches_name(Q(name_key__contains=key), lambda pin: key in pin.name_key) if key else Q(pk=None),
    )
    found = (_preferred(reachable.filter(step), actor) for step in (*steps[:2], steps[2] | steps[3]))
    return _answered_version(next(filter(None, found), None), actor)


def _preferred(skills: QuerySet[Skill], actor: Actor) -> Skill | None:
    few = list(skills.order_by("pk")[:2])
    if len(few) < 2:
        return next(iter(few), None)
    own = scores.most_used(skills.filter(team_id__in=actor.team_ids), 1)
    own = own or list(skills.filter(team_id__in=actor.team_ids).order_by("pk")[:1])
    return next(iter(own or scores.most_used(skills, 1) or skills.order_by("pk")[:1]), None)


def _answered_version(skill: Skill | None, actor: Actor) -> Version | None:
    """The skill's latest version; the pinned version if the skill is recommended only as canonical."""
    if skill is None:
        return None
    pin = listed_skill.load_pins(listed_skill.pin_keys(actor), [skill.pk]).get(skill.pk)
    return catalog.find_version_by_label(str(pin), actor) if pin else catalog.find_version(skill, None, actor)
