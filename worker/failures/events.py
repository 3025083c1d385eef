"""Sends events about error groups to the skill's team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.core.addresses import absolute_url
from registry.events.announce import announce as send
from registry.models import Skill
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from worker.failures.recording import Failure

CREATED = "error_group.created"
REGRESSED = "error_group.regressed"


def announce(type_: str, uid: str, failure: Failure) -> None:
    """Sends an event with the group's id, skill, version and failure code.

    The event has no message or exception type, because the team may not be permitted to read the content of
    the failed run.
    """
    skill = Skill.objects.select_related("team").get(pk=failure.skill_id)
    payload = {
        "error_group": uid,
        "skill": str(skill),
        "version": failure.version,
        "failure_code": failure.kind.failure_code,
        "url": absolute_url(f"/failures/{uid}/"),
    }
    send(type_, payload, team=skill.team, origin=f"failures:{skill.uid}", id_=new_uid())
