"""Channels: names that maintainers point to versions. ``latest`` is computed and has no row."""

import re

from django.db import transaction

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.lookup.errors import CHANNEL_WITHDRAWN, VERSION_HELD
from registry.models import Channel, Skill, Version
from registry.packages.version_numbers import normalise
from registry.versions.errors import CHANNEL_NAME_INVALID
from registry.versions.publishing.locks import lock_skill, lock_version

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
# Words that URLs use in place of a version or after one, so channels can't have these names.
RESERVED = frozenset(
    {"latest", "new", "compare", "diff", "versions", "settings", "channels", "run", "runs", "use", "usage"}
    | {"edit", "feedback", "allow", "files", "raw", "findings", "pin"}
)


@transaction.atomic
def set_channel(name: str, version: Version, actor: Actor) -> Channel:
    """Points the channel to this version; a second call changes nothing.

    Requires permission to manage versions. Raises CHANNEL_NAME_INVALID, VERSION_HELD for a held version,
    CHANNEL_WITHDRAWN for a yanked one, and NOT_FOUND for a purged one.
    """
    check_channel(name)
    version = lock_version(version, actor, Action.RELEASE)
    if version.is_held:
        raise VERSION_HELD.refusal(version=str(version))
    if version.yanked_at:
        raise CHANNEL_WITHDRAWN.refusal(channel=name, version=str(version), reason=version.yank_reason)
    return point_channel(name, version, actor)


def request_channel(name: str, version: Version) -> None:
    """Stores the channel that a publisher requested for a held version. The channel is set when the version
    is released.
    """
    Version.objects.filter(pk=version.pk).update(requested_channel=name)


def apply_requested_channel(version: Version, actor: Actor) -> None:
    """Sets the channel that was requested when the version was published, if any. Does nothing if the version
    is yanked or the channel was set in the meantime.
    """
    if version.requested_channel and not version.yanked_at:
        point_channel(version.requested_channel, version, actor)


def point_channel(name: str, version: Version, actor: Actor) -> Channel:
    """Points the channel to the version, and clears requests of held versions for this channel. The caller
    must hold the skill's lock and check the name.
    """
    skill = version.skill
    skill.versions.filter(requested_channel=name).update(requested_channel="")
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
    require(actor, Action.RELEASE, skill=skill)
    skill = lock_skill(skill)
    channel = skill.channels.filter(name=name).select_related("version").first()
    if channel is None:
        raise NOT_FOUND.refusal(what="channel", name=f"{skill}@{name[:80]}")
    channel.delete()
    skill.save(update_fields=["updated_at"])
    number = channel.version.number
    audit.record(actor, "channel.remove", str(skill), team=skill.team, channel=name, before=number)


def check_channel(name: str) -> None:
    if not _NAME.fullmatch(name) or name in RESERVED or normalise(name):
        raise CHANNEL_NAME_INVALID.refusal(channel=name[:80]).at("channel")
