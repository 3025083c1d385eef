"""Mails about accounts: links for invitations, new passwords and sign-up, and notices of changes. Failures
are logged, not raised.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from enum import Enum
from threading import Thread

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.core.addresses import absolute_url
from registry.models import User

_log = logging.getLogger(__name__)


class SignInChange(Enum):
    """The changes of sign-in methods that are mailed to the user, with the text of each mail."""

    PASSWORD = gettext_lazy("The password of your account %(name)s was changed.")
    EMAIL = gettext_lazy("The e-mail address of your account %(name)s was changed.")
    FACTOR_ADDED = gettext_lazy("A second factor was added to your account %(name)s.")
    FACTOR_REMOVED = gettext_lazy(
        "A second factor (the extra check at sign-in) was removed from your account %(name)s."
    )
    CODES = gettext_lazy("New recovery codes were created for your account %(name)s.")
    LINKED = gettext_lazy(
        "An account at an identity provider was linked to your account %(name)s "
        "and can now be used to sign in."
    )
    UNLINKED = gettext_lazy("An account at an identity provider was unlinked from your account %(name)s.")


def is_configured() -> bool:
    """Whether this site has a mail server."""
    return bool(settings.EMAIL_HOST)


def send_invitation(address: str, url: str) -> bool:
    """Mails an invitation and returns whether the mail server accepted it. Returns False without an address
    or a mail server.
    """
    text = _("You were invited to Skillquay. Accept the invitation with this link, which works once:")
    return bool(address) and _send([_message(address, _("Invitation to Skillquay"), text, url)])


def send_reset_link(user: User, url: str) -> bool:
    """Mails a link for a new password and returns whether the mail server accepted it. Returns False without
    an address or a mail server.
    """
    return bool(user.email) and _send([_reset_message(user, url)])


def send_reset_links(links: Iterable[tuple[User, str]]) -> None:
    """Mails links for new passwords in a thread, so that the response time does not reveal whether an account
    exists.
    """
    _send_later([_reset_message(user, url) for user, url in links])


def send_sign_up(address: str, url: str, usernames: Iterable[str]) -> None:
    """Sends, in a thread, a mail with a link to create an account. If the address already has accounts, the
    mail contains their user names instead.
    """
    known = ", ".join(usernames)
    if known:
        text = _("This address already has an account. User name: %(names)s. Sign in here:") % {
            "names": known
        }
    else:
        text = _("Create your Skillquay account with this link. It works once and expires after a day:")
    _send_later([_message(address, _("Your Skillquay account"), text, url)])


def send_notice(user: User, change: SignInChange) -> None:
    """Mails the user that a sign-in method changed. Sends the mail in a thread after the commit."""
    if not user.email:
        return
    advice = _("If this wasn't you, change your password, then end all other sessions here:")
    text = f"{change.value % {'name': user.username}}\n\n{advice}\n\n{absolute_url('/account/sessions/')}\n"
    message = EmailMessage(_("Your Skillquay account was changed"), text, to=[user.email])
    transaction.on_commit(lambda: _send_later([message]))


def _reset_message(user: User, url: str) -> EmailMessage:
    text = _(
        "Use this link to set a new password for the user name %(name)s. It works once "
        "and expires after a day:"
    )
    return _message(user.email, _("Set a new Skillquay password"), text % {"name": user.username}, url)


def _message(address: str, subject: str, text: str, url: str) -> EmailMessage:
    ignore = _("If you did not expect this mail, ignore it.")
    return EmailMessage(subject, f"{text}\n\n{url}\n\n{ignore}\n", to=[address])


def _send_later(messages: list[EmailMessage]) -> None:
    if messages:
        Thread(target=_send, args=(messages,), daemon=True).start()


def _send(messages: list[EmailMessage]) -> bool:
    if not is_configured():
        return False
    try:
        return get_connection().send_messages(messages) == len(messages)
    except (OSError, ValueError) as error:  # SMTPException is an OSError; a header with a line break
        _log.warning("Can't send mail: %s", type(error).__name__)
        return False
