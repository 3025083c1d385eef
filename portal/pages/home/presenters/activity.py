"""The activity on the home page: the last actions in the reader's teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import pgettext

from portal.presenters.audit import HOME_SENTENCES, Sentence, listed_names, sentence_of, skill_of
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import AuditEntry

MAX_SHOWN = 8
_MAX_READ = 60
_MAX_VERSIONS = 3  # number of versions named in one sentence


@dataclass(frozen=True)
class Activity:
    sentence: Sentence
    at: datetime


@reader
def activity_of(actor: Actor) -> Reads[Sequence[Activity]]:
    """The last actions in the actor's teams, newest first, at most ``MAX_SHOWN``.

    One entry combines a user's repeated action on several versions of a skill.
    """
    entries = AuditEntry.objects.filter(team__in=actor.team_ids, action__in=HOME_SENTENCES)
    groups: dict[tuple[object, ...], list[AuditEntry]] = {}
    yield (newest := entries.select_related("user").order_by("-pk")[:_MAX_READ])
    for entry in newest:
        key = (entry.user_id, entry.token_name, entry.action, skill_of(entry) or entry.target)
        groups.setdefault(key, []).append(entry)
    shown = list(groups.values())[:MAX_SHOWN]
    names = yield from listed_names.reads([group[0] for group in shown])
    return [_activity(group, names) for group in shown]


def _activity(group: Sequence[AuditEntry], names: Mapping[tuple[str, ...], str]) -> Activity:
    """The activity that combines the entries in ``group``, whose first entry is the newest."""
    newest = group[0]
    sentence = sentence_of(newest, names)
    name = names.get(skill_of(newest))
    if name is None:
        return Activity(sentence, newest.at)
    numbers = [entry.target.partition("@")[2] for entry in group]
    versions = list(dict.fromkeys(filter(None, numbers)))
    shown = versions[:_MAX_VERSIONS][::-1]
    if len(versions) > _MAX_VERSIONS:
        shown.insert(0, "…")
    target = f"{name} {pgettext('list', ', ').join(shown)}".rstrip()
    return Activity(replace(sentence, target=target), newest.at)
