"""Sign-up: people create their own accounts if the site permits it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from registry.accounts import mail
from registry.accounts.invitations import new_invitation
from registry.accounts.users import reset_url, validated_email
from registry.core.addresses import absolute_url
from registry.models import User

LIFETIME = timedelta(days=1)


def is_open() -> bool:
    return settings.SKILLQUAY_SIGN_UP in ("domain", "open")


def verifies_email() -> bool:
    """Whether the link to create an account is mailed instead of shown."""
    return mail.is_configured()


def request_account(email: str) -> str:
    """The URL of the page that creates the account. "" if the URL was mailed, or if the site permits no
    account for this e-mail address.

    Raises EMAIL_INVALID for a malformed address. The result does not reveal whether an account has the
    address.
    """
    if not verifies_email():
        return new_invitation("", timezone.now() + LIFETIME).url
    email = validated_email(email)
    if email and _is_permitted(email):
        usernames = list(_with_email(email).values_list("username", flat=True))
        url = absolute_url("/sign-in/") if usernames else new_invitation(email, timezone.now() + LIFETIME).url
        mail.send_sign_up(email, url, usernames)
    return ""


def forget_password(email: str) -> None:
    """Mails a password reset link to each active account that has this address and a usable password.

    The current password keeps working. Raises EMAIL_INVALID for a malformed address. Takes the same time
    whether or not an account has the address.
    """
    if email := validated_email(email):
        users = [user for user in _with_email(email) if user.has_usable_password()]
        mail.send_reset_links([(user, reset_url(user)) for user in users])


def _is_permitted(email: str) -> bool:
    domain = email.rpartition("@")[2].lower()
    return settings.SKILLQUAY_SIGN_UP == "open" or domain in settings.SKILLQUAY_SIGN_UP_DOMAINS


def _with_email(email: str) -> QuerySet[User]:
    return User.objects.filter(email__iexact=email, is_active=True, erased_at=None)
