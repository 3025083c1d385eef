"""Functions that the skills APIs of Anthropic and OpenAI share: opaque ids, uploads and deletion.

The id of a canonical skill is ``canonical_SLUG``; it stays the same when its version changes.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet
from rest_framework.request import Request

from registry.api import bodies
from registry.api.errors import FIELD_INVALID
from registry.changes import drafts
from registry.core.errors import NOT_FOUND, UPLOAD_EMPTY
from registry.core.limits import package_limits
from registry.facades.clawhub.lookup import latest_version
from registry.facades.sole_team import sole_team
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.lookup.visibility import is_visible_skill
from registry.models import Skill, Version
from registry.packages.package import Package
from registry.packages.read_package import read_files, read_upload
from registry.versions.errors import SKILL_EXISTS
from registry.versions.lifecycle import yank
from registry.versions.publishing.publish import publish

_SKILL, _CANONICAL, _VERSION = "skill_", "canonical_", "skver_"
_ARCHIVES = (".zip", ".tar.gz", ".tgz")
_DELETED = "Deleted with the skills API."


def skill_id(skill: Skill) -> str:
    canonical = skill.resolved_canonical
    return f"{_CANONICAL}{canonical.slug}" if canonical else f"{_SKILL}{skill.uid}"


def version_id(version: Version) -> str:
    return f"{_VERSION}{version.uid}"


def find_skill(text: str, actor: Actor) -> Skill:
    """The skill with this id. Raises NOT_FOUND, also for a skill without versions that the actor may use."""
    if text.startswith(_CANONICAL):
        return skills.find_skill(canonicals.PREFIX + text.removeprefix(_CANONICAL), actor)
    rows = Skill.objects.select_related("team", "latest")
    skill = rows.filter(uid=text.removeprefix(_SKILL)).first() if text.startswith(_SKILL) else None
    drafts.depend_on_skill(skill)
    if skill is None or not is_visible_skill(skill, actor) or newest_version(skill, actor) is None:
        raise NOT_FOUND.refusal(what="skill", name=text[:80])
    return skill


def list_skills(actor: Actor) -> QuerySet[Skill]:
    """The skills that lists show to the actor, with their latest version."""
    drafts.depend_on_catalog()
    return Skill.objects.discoverable_by(actor).filter(latest__isnull=False).select_related("team", "latest")


def newest_version(skill: Skill, actor: Actor) -> Version | None:
    """The latest version; otherwise the newest held one, for members of the team and administrators."""
    return latest_version(skill, actor) or versions_of(skill, actor).order_by("-precedence").first()


def versions_of(skill: Skill, actor: Actor) -> QuerySet[Version]:
    """The versions that are not yanked; held ones only for members of the team and administrators. Of a
    canonical skill, only the pinned version.
    """
    if skill.resolved_canonical:
        return Version.objects.filter(canonicals=skill.resolved_canonical)
    return skill.versions.visible_to(actor).filter(yanked_at=None)


def find_version(skill: Skill, text: str, actor: Actor) -> Version:
    """The version with this id or number, or in this channel.

    Raises NOT_FOUND for the id or number of a yanked version, and otherwise the errors of
    ``skills.find_version``.
    """
    rows = versions_of(skill, actor).select_related("skill__team")
    if text.startswith(_VERSION):
        version = rows.filter(uid=text.removeprefix(_VERSION)).first()
    else:
        found = skills.find_version(skill, text, actor, include_held=True)
        version = rows.filter(pk=found.pk).first()
    if version is None:
        raise NOT_FOUND.refusal(what="version", name=text[:80])
    version.skill.resolved_canonical = skill.resolved_canonical
    return version


def create_skill(request: Request, actor: Actor, *, team: str) -> Version:
    """Publishes the uploaded package as a new skill.

    Raises SKILL_EXISTS if the team has a skill with this name and a latest version. Raises FIELD_INVALID if
    ``team`` is empty and the actor has not exactly one team, and the errors of ``publish``.
    """
    package = _read_package(request)
    target = skills.find_team(team, actor) if team else sole_team(actor)
    require(actor, Action.PUBLISH, team=target)
    slug = package.manifest.slug
    if Skill.objects.filter(team=target, slug=slug, latest__isnull=False).exists():
        raise SKILL_EXISTS.refusal(skill=f"{target.slug}/{slug}")
    return publish(package, team=target, actor=actor).version


def create_version(request: Request, skill: Skill, actor: Actor) -> Version:
    """Publishes the uploaded package as the skill's next version. Raises FIELD_INVALID if the package has
    another name, and the errors of ``publish``.
    """
    require(actor, Action.PUBLISH, skill=skill)
    package = _read_package(request)
    if package.manifest.slug != skill.slug:
        reason = f"The uploaded skill is named {package.manifest.slug}, not {skill.slug}."
        raise FIELD_INVALID.refusal(field="files", reason=reason)
    return publish(package, team=skill.team, actor=actor).version


def delete_skill(skill: Skill, actor: Actor) -> None:
    yank.yank_all(skill, actor, reason=_DELETED)


def delete_version(version: Version, actor: Actor) -> None:
    yank.yank(version, actor, reason=_DELETED)


def _read_package(request: Request) -> Package:
    """The package in the form fields ``files`` or ``files[]``: one archive, or the files of a folder. Raises
    UPLOAD_EMPTY and the errors of ``read_form`` and ``read_files``.
    """
    limit = settings.SKILLQUAY_MAX_UNPACKED_BYTES + settings.SKILLQUAY_MAX_REQUEST_BYTES
    form = bodies.read_form(request, limit=limit)
    parts = [*form.parts_of("files[]"), *form.parts_of("files")]
    if not parts:
        raise UPLOAD_EMPTY.refusal()
    if len(parts) == 1 and parts[0].path.lower().endswith(_ARCHIVES):
        return read_upload(parts[0].read(), filename=parts[0].path, limits=package_limits())
    return read_files([(part.path, part.read()) for part in parts], limits=package_limits())
