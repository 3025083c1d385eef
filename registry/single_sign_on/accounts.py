"""Finds, creates and links the accounts of people who sign in with an issuer. Only issuer and subject
identify a person.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from registry.accounts import mail
from registry.accounts.errors import EMAIL_INVALID, USERNAME_INVALID, USERNAME_TAKEN
from registry.accounts.users import MAX_NAME, add_account, validated_email, validated_username
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.models import User
from registry.packages.problems import Refusal
from registry.single_sign_on.errors import (
    IDENTITY_INACTIVE,
    IDENTITY_LAST,
    IDENTITY_TAKEN,
    IDENTITY_UNKNOWN,
)
from registry.single_sign_on.exchange import Identity
from registry.single_sign_on.groups import apply_groups
from registry.single_sign_on.issuers import issuers

_SEALED = "erased:"


@transaction.atomic
def sign_in(identity: Identity) -> User:
    """The account of this person, with the team roles of the person's groups. Creates the account if the
    site permits it for the issuer. Never finds an account by its e-mail address or user name.

    Raises IDENTITY_UNKNOWN if there is no account and none may be created, and IDENTITY_INACTIVE for
    deactivated and erased people.
    """
    linked = _find(identity)
    user = linked.user if linked else _create(identity)
    if not user.is_active:
        raise IDENTITY_INACTIVE.refusal()
    apply_groups(user, identity)
    return user


@transaction.atomic
def link(identity: Identity, user: User) -> None:
    """Links the person at the issuer to the user, who can then sign in with the issuer, and applies the
    person's groups. Sends the user a notice of a new link.

    Raises IDENTITY_TAKEN if the person is, or was before an erasure, linked to another account.
    """
    linked = _find(identity)
    if linked and linked.user_id != user.pk:
        raise IDENTITY_TAKEN.refusal(issuer=identity.issuer.label)
    if not linked:
        _link(identity, user)
        audit.record(Actor(user=user), "user.link", user.username, issuer=identity.issuer.url)
        mail.send_notice(user, mail.SignInChange.LINKED)
    apply_groups(user, identity)


@transaction.atomic
def unlink(user: User, pk: str) -> None:
    """Removes one of the user's links and sends the user a notice. Raises NOT_FOUND if there is no such
    link, and IDENTITY_LAST if the user could not sign in any more.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    linked = links_of(user).filter(pk=pk).first() if pk.isdecimal() and len(pk) < 16 else None
    if linked is None:
        raise NOT_FOUND.refusal(what="linked account", name=pk[:40])
    if not user.has_usable_password() and links_of(user).count() == 1:
        raise IDENTITY_LAST.refusal()
    linked.delete()
    audit.record(Actor(user=user), "user.unlink", user.username, issuer=linked.provider)
    mail.send_notice(user, mail.SignInChange.UNLINKED)


def links_of(user: User) -> QuerySet[SocialAccount]:
    """The user's links; ``provider`` is the issuer's URL, ``uid`` the subject."""
    rows: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user).order_by("pk")
    return rows


def seal_links(user: User) -> None:
    """Replaces the subjects of an erased person with keyed digests. They don't reveal the person, but a later
    sign-in is still refused.
    """
    for linked in links_of(user):
        linked.uid, linked.extra_data = _sealed(linked.provider, linked.uid, settings.SECRET_KEY), {}
        linked.save(update_fields=["uid", "extra_data"])


def label_of(linked: SocialAccount) -> str:
    """The issuer's label, or its URL if the site no longer trusts the issuer."""
    return next((issuer.label for issuer in issuers() if issuer.url == linked.provider), linked.provider)


def _find(identity: Identity) -> SocialAccount | None:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    known = [identity.subject, *(_sealed(identity.issuer.url, identity.subject, key) for key in keys)]
    rows = SocialAccount.objects.select_related("user")
    return rows.filter(provider=identity.issuer.url, uid__in=known).first()


def _sealed(issuer: str, subject: str, key: str) -> str:
    text = f"identity:{issuer}\n{subject}".encode("utf-8", "replace")
    return _SEALED + hmac.new(key.encode(), text, hashlib.sha256).hexdigest()


def _link(identity: Identity, user: User) -> None:
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user=user, provider=identity.issuer.url, uid=identity.subject)
    except IntegrityError:  # the same person in another tab at the same time
        raise IDENTITY_TAKEN.refusal(issuer=identity.issuer.label) from None


def _create(identity: Identity) -> User:
    if not identity.issuer.creates_users:
        raise IDENTITY_UNKNOWN.refusal(issuer=identity.issuer.label)
    user = _add_account(identity)
    user.first_name, user.last_name = identity.first_name, identity.last_name
    user.save(update_fields=["first_name", "last_name"])
    _link(identity, user)
    audit.record(Actor(user=user), "user.create", user.username, issuer=identity.issuer.url)
    return user


def _add_account(identity: Identity) -> User:
    email = ""
    with suppress(Refusal):
        email = validated_email(identity.email)
    for name in _candidates(identity.username):
        try:
            return add_account(name, None, email=email)
        except Refusal as error:
            if error.code not in (USERNAME_TAKEN.name, USERNAME_INVALID.name, EMAIL_INVALID.name):
                raise
    raise USERNAME_TAKEN.refusal(name=identity.username)


def _candidates(wanted: str) -> Iterator[str]:
    """Yields user names to try: the valid form of ``wanted``, then with a number, then with random digits."""
    name = re.sub(r"[^\w.@+-]+", "-", wanted).strip("-")[: MAX_NAME - 10]
    try:
        name = validated_username(name)
    except Refusal:
        name = "user"
    yield name
    yield from (f"{name}-{number}" for number in range(2, 10))
    yield from (f"{name}-{secrets.token_hex(4)}" for _ in range(5))
