"""``skills_list`` and ``skills_load``: what an agent may load, and the whole of what it chose."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from registry import canonical, catalog, storage, usage, words
from registry.actors import Actor
from registry.listing import choosing, offering
from registry.listing.formats import files_address
from registry.listing.plain import brief, one_line
from registry.models import Canonical, File, Skill, UseKind, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import Problem, Refused, refuse
from registry.permissions import Action, may

LISTED = 100
_SKILL_MD = "SKILL.md"
_ABSENT = frozenset({"NOT_FOUND", "NO_LATEST", "VERSION_HELD"})


@dataclass(frozen=True)
class Loadable:
    """A skill as ``skills_list`` tells of it; ``name`` loads it, as ``id`` does."""

    id: str
    name: str
    description: str
    allowed_tools: tuple[str, ...]


@dataclass(frozen=True)
class Loadables:
    skills: tuple[Loadable, ...]
    more: int


@dataclass(frozen=True)
class Loaded:
    skill: Skill
    version: Version
    content: str  # the whole SKILL.md
    files: tuple[File, ...]
    notices: tuple[Problem, ...]  # that it is yanked, deprecated or reported


def skills_list(actor: Actor, *, paths: Collection[str] = (), limit: int = LISTED) -> Loadables:
    """What the actor's agents may load, bundled ones first, then as a listing gives places."""
    reachable = Skill.objects.reachable_by(actor)
    most = min(limit, choosing.MOST)
    choice = choosing.choose(reachable, actor, paths, most=most, now=timezone.now())
    offers = list(offering.offers((each.skill for each in choice.placed), actor, reachable).values())
    versions = Version.objects.filter(pk__in=[offer.version for offer in offers])
    manifests = dict(versions.values_list("pk", "manifest"))
    return Loadables(
        tuple(_loadable(offer, manifests[offer.version]) for offer in offers),
        choice.total - len(choice.placed),
    )


def skills_load(name: str, actor: Actor, *, is_use: bool = True) -> Loaded:
    """The skill that has this id, else this name, else this in its name; counts as a use."""
    version = find(name, actor)
    skill = version.skill
    if is_use:
        usage.record_use(skill, actor.caller, UseKind.LOAD, version=version.number)
    files = tuple(version.files.order_by("path"))
    return Loaded(skill, version, _content(version), files, catalog.notices(version, actor))


def find(name: str, actor: Actor) -> Version:
    """Refuses as LOAD_NAME_MISSING and LOAD_NOT_FOUND; what agents may not use is as if it were not."""
    name = name.strip()
    if not name:
        raise refuse("LOAD_NAME_MISSING", path="name")
    version = _by_id(name, actor) or _by_name(name, actor)
    if version is None or not may(actor, Action.INSTALL, skill=version.skill):
        raise refuse("LOAD_NOT_FOUND", path="name", name=one_line(name)[:200])
    return version


def document(loaded: Loaded) -> dict[str, Any]:
    """The JSON of commands and API."""
    base = files_address(loaded.skill, loaded.version.number)
    said = manifest_of(loaded.version.manifest)
    return {
        "id": str(loaded.skill.found_as or loaded.skill),
        "name": loaded.skill.slug,
        "version": loaded.version.number,
        "digest": loaded.version.digest,
        "description": one_line(said.description),
        "allowedTools": list(map(one_line, said.allowed_tools)),
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


def list_document(found: Loadables) -> dict[str, Any]:
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
        "more": found.more,
    }


def _loadable(offer: offering.Offer, manifest: dict[str, Any]) -> Loadable:
    is_pinned = offer.name.startswith(canonical.PREFIX)
    tools = tuple(map(one_line, manifest_of(manifest).allowed_tools))
    return Loadable(offer.name if is_pinned else str(offer.skill), offer.name, brief(offer.text), tools)


def _by_id(name: str, actor: Actor) -> Version | None:
    """By team/slug of whatever the actor may see, by canonical name, or by the opaque id of an offer."""
    if "/" not in name and not name.startswith(canonical.PREFIX):
        return _version(Skill.objects.reachable_by(actor).filter(uid=name).first(), actor)
    try:
        version = catalog.find_named(name, actor)
    except Refused as refused:
        if refused.code in _ABSENT:
            return None
        raise
    return None if manifest_of(version.manifest).disable_model_invocation else version


def _by_name(name: str, actor: Actor) -> Version | None:
    """Of several, the first of one's own teams, then the most used; a slug is what listings call it by."""
    reachable, key = Skill.objects.reachable_by(actor).select_related("team"), words.key(name)
    pinned = offering.pins(actor)

    def called(latest: Q, accepted: Callable[[Canonical], bool]) -> Q:
        """A canonical skill is called what its accepted version calls it."""
        named = [skill for skill, pin in pinned.items() if accepted(pin)]
        return (latest & ~Q(pk__in=pinned)) | Q(pk__in=named)

    steps = (
        Q(slug=name),
        called(Q(name=name), lambda pin: pin.name == name),
        Q(slug__contains=name.lower()),
        called(Q(name_key__contains=key), lambda pin: key in pin.name_key) if key else Q(pk=None),
    )
    found = (_first(reachable.filter(step), actor) for step in (*steps[:2], steps[2] | steps[3]))
    return _version(next(filter(None, found), None), actor)


def _first(skills: QuerySet[Skill], actor: Actor) -> Skill | None:
    own = usage.most_used(skills.filter(team_id__in=actor.team_ids), 1)
    own = own or list(skills.filter(team_id__in=actor.team_ids).order_by("pk")[:1])
    return next(iter(own or usage.most_used(skills, 1) or skills.order_by("pk")[:1]), None)


def _version(skill: Skill | None, actor: Actor) -> Version | None:
    """The latest, or what was pinned where the skill is offered as canonical."""
    if skill is None:
        return None
    pin = offering.pins(actor, [skill]).get(skill.pk)
    return catalog.find_named(str(pin), actor) if pin else catalog.find_version(skill, None, actor)


def _content(version: Version) -> str:
    with storage.open_blob(version.digest) as blob, zipfile.ZipFile(blob) as archive:
        return archive.read(_SKILL_MD).decode("utf-8-sig")
