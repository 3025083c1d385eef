"""Sets, replaces, removes and re-encrypts the secrets of teams. Changes require a session."""

import re

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, require
from registry.models import Secret, Team
from registry.packages.archive.paths import printable
from registry.packages.reserved_variables import is_reserved
from registry.secrets import encryption
from registry.secrets.errors import SECRET_LIMIT, SECRET_NAME_INVALID, SECRET_VALUE_INVALID

MAX_SECRETS = 100  # per team
MAX_VALUE_BYTES = 32_768
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def secrets_of(team: Team, actor: Actor) -> QuerySet[Secret]:
    """The team's secrets, sorted by name. Raises FORBIDDEN unless the actor is a member or administrator in a
    session.
    """
    require_reader(team, actor)
    return team.secrets.select_related("set_by", "team").order_by("name")


def find_secret(team: Team, name: str, actor: Actor) -> Secret:
    found = secrets_of(team, actor).filter(name=name).first()
    if found is None:
        raise NOT_FOUND.refusal(what="secret", name=name[:64])
    return found


@transaction.atomic
def put_secret(team: Team, name: str, value: str, actor: Actor) -> Secret:
    """Sets the secret or replaces its value; grants of a replaced secret stay.

    Requires the maintainer role or administrator rights, and a session; otherwise raises FORBIDDEN. Raises
    SECRET_NAME_INVALID for a malformed or reserved name, and SECRET_VALUE_INVALID for a value that is
    empty, too long or not text. Raises SECRET_LIMIT for a new secret above MAX_SECRETS.
    """
    require_person(actor)
    require(actor, Action.SETTINGS, team=team)
    if not _NAME.fullmatch(name) or is_reserved(name):
        raise SECRET_NAME_INVALID.refusal(name=printable(name, 80)).at("name")
    if (
        "\0" in value
        or not 0 < len(value.encode("utf-8", "replace")) <= MAX_VALUE_BYTES
        or not _is_text(value)
    ):
        raise SECRET_VALUE_INVALID.refusal(most=MAX_VALUE_BYTES).at("value")
    if team.secrets.count() >= MAX_SECRETS and not team.secrets.filter(name=name).exists():
        raise SECRET_LIMIT.refusal(most=MAX_SECRETS)
    sealed = encryption.seal(value, team=team.uid, name=name)
    row, created = Secret.objects.update_or_create(
        team=team, name=name, defaults={"sealed": sealed, "set_by": actor.user, "set_at": timezone.now()}
    )
    audit.record(actor, "secret.set" if created else "secret.replace", f"{team}/{name}", team=team)
    return row


@transaction.atomic
def remove_secret(secret: Secret, actor: Actor) -> None:
    """Deletes the secret with its grants. Requires the maintainer role or administrator rights, and a
    session; otherwise raises FORBIDDEN.
    """
    require_person(actor)
    require(actor, Action.SETTINGS, team=secret.team)
    secret.delete()
    audit.record(actor, "secret.remove", f"{secret.team}/{secret.name}", team=secret.team)


def reseal() -> int:
    """Encrypts every value again with the first key, one transaction per secret; returns the count. Raises
    SECRET_SEALED at the first value that no key decrypts.
    """
    count = 0
    for key in Secret.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = Secret.objects.select_for_update(of=("self",)).select_related("team").filter(pk=key).first()
            if row:
                value = encryption.unseal(row.sealed, team=row.team.uid, name=row.name)
                row.sealed = encryption.seal(value, team=row.team.uid, name=row.name)
                row.save(update_fields=["sealed"])
                count += 1
    return count


def require_reader(team: Team, actor: Actor) -> None:
    """Raises FORBIDDEN for tokens, and for users who are neither members of the team nor administrators."""
    if actor.token or not (actor.is_administrator or team.pk in actor.team_ids):
        raise FORBIDDEN.refusal(action="read the names of secrets")


def require_person(actor: Actor) -> None:
    if actor.token:
        raise FORBIDDEN.refusal(action="change secrets")


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)
