"""Second factors: authenticator apps, passkeys, security keys and recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from registry.accounts import lock_outs, mail
from registry.accounts.sessions import end_sessions
from registry.core import sealing
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import User

_SEALED = ("secret", "seed")  # of an authenticator app, and of recovery codes
_CHANGES = {
    "add": mail.SignInChange.FACTOR_ADDED,
    "remove": mail.SignInChange.FACTOR_REMOVED,
    "renew": mail.SignInChange.CODES,
}


def factors_of(user: User) -> QuerySet[Authenticator]:
    """The user's authenticator app and keys, oldest first, without recovery codes."""
    return (
        Authenticator.objects.filter(user=user)
        .exclude(type=Authenticator.Type.RECOVERY_CODES)
        .order_by("created_at", "pk")
    )


def is_missing(user: User) -> bool:
    """Whether the site requires a second factor of the user, and the user has none."""
    required = settings.SKILLQUAY_REQUIRE_SECOND_FACTOR
    if required == "off" or (required == "administrators" and not user.is_superuser):
        return False
    return not factors_of(user).exists()


def record_change(user: User, action: str, kind: str) -> None:
    """Records that users changed their own second factors, and mails them a notice. ``action`` is ``add``,
    ``remove`` or ``renew``.
    """
    audit.record(Actor(user=user), f"user.{action}_second_factor", user.username, kind=kind)
    mail.send_notice(user, _CHANGES[action])


@transaction.atomic
def reset(user: User, by: Actor) -> int:
    """Removes all second factors and recovery codes of the user, ends the user's sessions and lock-outs, and
    mails a notice. Returns the number of removed factors. Requires administrator rights.
    """
    require(by, Action.USERS)
    count = factors_of(user).count()
    Authenticator.objects.filter(user=user).delete()
    lock_outs.failures_of(user.username).delete()
    end_sessions(user)
    audit.record(by, "user.reset_second_factors", user.username, count=count)
    mail.send_notice(user, mail.SignInChange.FACTOR_REMOVED)
    return count


def reseal() -> int:
    """Encrypts the secrets of all second factors with the site's key; returns the number of factors."""
    count = 0
    for key in Authenticator.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=key).first()
            names = [name for name in _SEALED if row and name in row.data]
            if row and names:
                row.data |= {name: sealing.reseal(row.data[name]) for name in names}
                row.save(update_fields=["data"])
                count += 1
    return count
