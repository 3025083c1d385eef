"""Secrets set, replaced and removed: by people, in a session; a value goes in and never comes out again."""

from __future__ import annotations

import re

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.models import Secret, Team
from registry.packages.problems import refuse
from registry.packages.variables import is_taken
from registry.permissions import Action, require
from registry.secrets import sealing

MOST = 100  # of one team
MOST_BYTES = 32_768
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def secrets_of(team: Team, actor: Actor) -> QuerySet[Secret]:
    """Their names and dates, for members in person; by name."""
    require_reader(team, actor)
    return team.secrets.select_related("set_by", "team").order_by("name")


def find_secret(team: Team, name: str, actor: Actor) -> Secret:
    found = secrets_of(team, actor).filter(name=name).first()
    if found is None:
        raise refuse("NOT_FOUND", what="secret", name=name[:64])
    return found


@transaction.atomic
def put_secret(team: Team, name: str, value: str, actor: Actor) -> Secret:
    """Keeps a value under a name; one that is there is replaced, and grants stay with the name."""
    require_person(actor)
    require(actor, Action.SETTINGS, team=team)
    if not _NAME.fullmatch(name) or is_taken(name):
        raise refuse("SECRET_NAME_INVALID", path="name", name=ascii(name[:80]))
    if "\0" in value or not 0 < len(value.encode("utf-8", "replace")) <= MOST_BYTES or not _is_text(value):
        raise refuse("SECRET_VALUE_INVALID", path="value", most=MOST_BYTES)
    if team.secrets.count() >= MOST and not team.secrets.filter(name=name).exists():
        raise refuse("SECRET_LIMIT", most=MOST)
    sealed = sealing.seal(value, team=team.uid, name=name)
    row, created = Secret.objects.update_or_create(
        team=team, name=name, defaults={"sealed": sealed, "set_by": actor.user, "set_at": timezone.now()}
    )
    audit.record(actor, "secret.set" if created else "secret.replace", f"{team}/{name}", team=team)
    return row


@transaction.atomic
def remove_secret(secret: Secret, actor: Actor) -> None:
    """Its value and its grants go for good."""
    require_person(actor)
    require(actor, Action.SETTINGS, team=secret.team)
    secret.delete()
    audit.record(actor, "secret.remove", f"{secret.team}/{secret.name}", team=secret.team)


def reseal() -> int:
    """Writes every value anew under the first key; how many there were."""
    done = 0
    for key in Secret.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = Secret.objects.select_for_update(of=("self",)).select_related("team").filter(pk=key).first()
            if row:
                value = sealing.unseal(row.sealed, team=row.team.uid, name=row.name)
                row.sealed = sealing.seal(value, team=row.team.uid, name=row.name)
                row.save(update_fields=["sealed"])
                done += 1
    return done


def require_reader(team: Team, actor: Actor) -> None:
    """Refuses a token, and who is not on the team."""
    if actor.token or not (actor.is_administrator or team.pk in actor.team_ids):
        raise refuse("FORBIDDEN", action="read the names of secrets")


def require_person(actor: Actor) -> None:
    if actor.token:
        raise refuse("FORBIDDEN", action="change secrets")


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)
