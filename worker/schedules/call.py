"""The call of a schedule: the version to run, the request, and the expected properties of the version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from registry.additions.additions import effective_manifest
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.lookup.errors import NAME_AMBIGUOUS
from registry.lookup.skills import find_skill, find_version
from registry.models import Skill, Version
from registry.packages.manifest.naming import slugify
from registry.packages.problems import Refusal
from registry.rules.requested_permissions import version_permissions
from worker.models import Schedule
from worker.protocols.call import Request
from worker.protocols.formats import abp
from worker.schedules import errors

DEFAULT_CHANNEL = "latest"
REQUEST_FIELDS = ("inputs", "arguments", "script", "action", "tool", "stdin", "debug")


def request_of(schedule: Schedule) -> Request:
    return Request(**schedule.request)


def request_document(request: Request) -> dict[str, Any]:
    """The request in its stored form, without empty fields. Its context is not stored, because each run gets
    a new one.
    """
    named = {name: getattr(request, name) for name in REQUEST_FIELDS if getattr(request, name)}
    return {**named, "inputs": dict(request.inputs)}


def due_version(schedule: Schedule, actor: Actor) -> Version:
    """The version that a run would use now. Raises SCHEDULE_DIGEST_CHANGED if a pinned version has other
    content, and the refusals of the look-up, such as for a held version.
    """
    version = find_version(
        find_skill(str(schedule.skill), actor), schedule.version_number or schedule.channel, actor
    )
    if schedule.digest and version.digest != schedule.digest:
        raise errors.SCHEDULE_DIGEST_CHANGED.refusal(version=str(version))
    return version


def unusable_skill_reason(schedule: Schedule) -> Refusal | None:
    """The reason why the skill can no longer be called; None if it can be called."""
    skill = schedule.skill
    if skill is None or skill.purged_at:
        return errors.SCHEDULE_SKILL_DELETED.refusal(skill=schedule.skill_label)
    if skill.team_id != schedule.skill_team_id:
        return errors.SCHEDULE_SKILL_MOVED.refusal(skill=str(skill))
    return None


def expectations_of(version: Version, request: Request) -> dict[str, Any]:
    """The properties of the version that a schedule relies on: the hash of the input schema, and the
    permissions.
    """
    manifest = effective_manifest(version)
    schema = abp.input_schema(manifest, abp.resolve_tool(manifest, request))
    text = json.dumps(schema, sort_keys=True, default=str)
    permissions = {kind: sorted(names) for kind, names in version_permissions(version).document().items()}
    return {"inputs": hashlib.sha256(text.encode()).hexdigest(), "permissions": permissions}


def changed_expectation(expected: Mapping[str, Any], version: Version, request: Request) -> Refusal | None:
    """SCHEDULE_INPUTS_CHANGED or SCHEDULE_PERMISSIONS_CHANGED if the version differs from ``expected``;
    otherwise None.
    """
    present = expectations_of(version, request)
    if present["inputs"] != expected.get("inputs"):
        return errors.SCHEDULE_INPUTS_CHANGED.refusal(version=str(version))
    if present["permissions"] != expected.get("permissions"):
        return errors.SCHEDULE_PERMISSIONS_CHANGED.refusal(version=str(version))
    return None


def find_agent_skill(agent_role: str, skill_name: str, actor: Actor) -> Skill:
    """The skill with this name that was imported from the folder ``agents/<agent_role>``, found by its tag.
    Prefers skills of the actor's teams.

    Raises NOT_FOUND if there is none, and NAME_AMBIGUOUS if there are several.
    """
    slugs = {slugify(skill_name), slugify(f"{agent_role}-{skill_name}")}
    rows = Skill.objects.visible_to(actor).filter(slug__in=slugs).select_related("team", "latest")
    found = [skill for skill in rows.order_by("team__slug", "slug") if agent_role in skill.tags]
    own = [skill for skill in found if skill.team_id in actor.team_ids] or found
    if not own:
        raise NOT_FOUND.refusal(what="skill", name=f"{agent_role}/{skill_name}"[:200])
    if len(own) > 1:
        names = tuple(map(str, own[:10]))
        raise NAME_AMBIGUOUS.refusal(name=skill_name[:200], candidates=names)
    return own[0]
