"""Channels: names that a maintainer gives versions. ``latest`` is none of them, it follows by itself."""

from __future__ import annotations

import re

from django.db import transaction

from registry import audit
from registry.actors import Actor
from registry.models import Channel, Skill, Version
from registry.packages.problems import refuse
from registry.packages.versions import normalise
from registry.permissions import Action, require
from registry.publishing.locking import locked, locked_version

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
# What an address means by itself: in a version's place, or behind one.
RESERVED = frozenset(
    {"latest", "new", "compare", "diff", "versions", "settings", "channels", "run", "runs", "use", "usage"}
    | {"edit", "feedback", "allow", "files", "raw", "findings"}
)


@transaction.atomic
def set_channel(name: str, version: Version, actor: Actor) -> Channel:
    """Lets ``team/slug@name`` mean this version from now on; said again, nothing happens."""
    check_channel(name)
    version = locked_version(version, actor, Action.SETTINGS)
    if version.is_held:
        raise refuse("VERSION_HELD", version=str(version))
    if version.yanked_at:
        raise refuse("CHANNEL_WITHDRAWN", channel=name, version=str(version), reason=version.yank_reason)
    return point(name, version, actor)


def wish_channel(name: str, version: Version) -> None:
    """Keeps the channel that the publisher of a held version asked for, until somebody releases it."""
    Version.objects.filter(pk=version.pk).update(wished_channel=name)


def grant_wish(version: Version, actor: Actor) -> None:
    """Sets what was asked for when the version was published, unless the channel was set since."""
    if version.wished_channel and not version.yanked_at:
        point(version.wished_channel, version, actor)


def point(name: str, version: Version, actor: Actor) -> Channel:
    """Sets the channel within the transaction of who has the skill's lock; the last word holds."""
    skill = version.skill
    skill.versions.filter(wished_channel=name).update(wished_channel="")
    before = skill.channels.filter(name=name).select_related("version").first()
    if before and before.version_id == version.pk:
        return before
    channel, _ = Channel.objects.update_or_create(skill=skill, name=name, defaults={"version": version})
    skill.save(update_fields=["updated_at"])
    number = before.version.number if before else ""
    audit.record(actor, "channel.set", str(version), team=skill.team, channel=name, before=number)
    return channel


@transaction.atomic
def remove_channel(skill: Skill, name: str, actor: Actor) -> None:
    require(actor, Action.SETTINGS, skill=skill)
    skill = locked(skill)
    channel = skill.channels.filter(name=name).select_related("version").first()
    if channel is None:
        raise refuse("NOT_FOUND", what="channel", name=f"{skill}@{name[:80]}")
    channel.delete()
    skill.save(update_fields=["updated_at"])
    number = channel.version.number
    audit.record(actor, "channel.remove", str(skill), team=skill.team, channel=name, before=number)


def check_channel(name: str) -> None:
    if not _NAME.fullmatch(name) or name in RESERVED or normalise(name):
        raise refuse("CHANNEL_NAME_INVALID", path="channel", channel=name[:80])
