"""Starts, confirms and ends device logins. A code can be confirmed once, and yields one token."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from registry.core import text as texts
from registry.core.errors import NOT_FOUND
from registry.device_logins.errors import DEVICE_CODE_UNKNOWN, DEVICE_LOGINS_TOO_MANY
from registry.identity import audit, client_address, tokens
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, TOKEN_EXPIRY_INVALID, TOKEN_SCOPE_UNKNOWN
from registry.identity.token_format import digest
from registry.models import DeviceLogin, DeviceLoginState, Scope, Team, User
from registry.packages.problems import Refusal
from registry.rates.limits import network_of

LIFETIME = timedelta(minutes=10)
INTERVAL_S = 2  # between two polls of a client
GRANTABLE = (Scope.READ, Scope.RUN, Scope.PUBLISH)
_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so that codes are no words
_LENGTH = 8  # 34 bits; wrong codes are rate limited
_MAX_PENDING = 20  # of one network
_KEPT = timedelta(hours=1)  # after the expiry
_MAX_LABEL_CHARS = 80


class PollResult(StrEnum):
    """The reasons why a poll returns no token, as RFC 8628 names them."""

    PENDING = "authorization_pending"
    SLOW_DOWN = "slow_down"
    EXPIRED = "expired_token"
    DENIED = "access_denied"


@dataclass(frozen=True)
class StartedLogin:
    """A new login. ``secret`` is for the client, ``code`` for the person."""

    secret: str
    code: str


@dataclass(frozen=True)
class IssuedToken:
    secret: str
    scopes: tuple[str, ...]


def start(label: str) -> StartedLogin:
    """Starts a login for the client of the current request. Raises DEVICE_LOGINS_TOO_MANY above
    ``_MAX_PENDING`` open logins from its network.
    """
    now, address = timezone.now(), network_of(client_address.current())
    DeviceLogin.objects.filter(expires_at__lt=now - _KEPT).delete()
    pending = DeviceLogin.objects.filter(address=address, state=DeviceLoginState.PENDING, expires_at__gt=now)
    if pending.count() >= _MAX_PENDING:
        raise DEVICE_LOGINS_TOO_MANY.refusal(retry_after_s=int(LIFETIME.total_seconds()))
    secret, code = secrets.token_urlsafe(32), "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    DeviceLogin.objects.create(
        secret_hash=digest(secret),
        code=code,
        label=_label(label),
        address=address,
        expires_at=now + LIFETIME,
    )
    return StartedLogin(secret, code)


def shown_code(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


def find_pending(typed: str) -> DeviceLogin:
    """The open login with this code. Ignores case, spaces and hyphens. Raises DEVICE_CODE_UNKNOWN."""
    code = "".join(character for character in typed.upper() if character in _ALPHABET)
    row = DeviceLogin.objects.filter(
        code=code, state=DeviceLoginState.PENDING, expires_at__gt=timezone.now()
    ).first()
    if row is None:
        raise DEVICE_CODE_UNKNOWN.refusal()
    return row


@transaction.atomic
def approve(
    login: DeviceLogin,
    by: Actor,
    *,
    scopes: Collection[str],
    expires_at: datetime,
    team: Team | None = None,
) -> None:
    """Lets the client of the login fetch a token of the actor with these properties.

    Raises FORBIDDEN unless a person in a session confirms, DEVICE_CODE_UNKNOWN if the login is no longer
    open, TOKEN_SCOPE_UNKNOWN, TOKEN_EXPIRY_INVALID, and NOT_FOUND if the actor is not in ``team``.
    """
    user = _require_person(by)
    if not scopes or not set(scopes) <= set(GRANTABLE):
        raise TOKEN_SCOPE_UNKNOWN.refusal(scopes=tuple(GRANTABLE)).at("scopes")
    now = timezone.now()
    if not now < expires_at <= now + timedelta(days=tokens.MAX_DAYS):
        raise TOKEN_EXPIRY_INVALID.refusal().at("expires_at")
    if team and team.pk not in by.team_ids:
        raise NOT_FOUND.refusal(what="team", name=team.slug)
    _close(
        login,
        DeviceLoginState.APPROVED,
        user=user,
        team=team,
        scopes=sorted(scopes),
        token_expires_at=expires_at,
    )
    audit.record(by, "token.approve_device", login.uid, team=team, name=login.label, scopes=sorted(scopes))


@transaction.atomic
def deny(login: DeviceLogin, by: Actor) -> None:
    """Ends the login without a token. Raises FORBIDDEN and DEVICE_CODE_UNKNOWN as ``approve`` does."""
    _require_person(by)
    _close(login, DeviceLoginState.DENIED)
    audit.record(by, "token.deny_device", login.uid, name=login.label)


def poll(secret: str) -> IssuedToken | PollResult:
    """The token, once, after the login was approved; otherwise the reason why there is none."""
    row = DeviceLogin.objects.select_related("user", "team").filter(secret_hash=digest(secret)).first()
    now = timezone.now()
    if row is None or row.expires_at <= now or row.state == DeviceLoginState.USED:
        return PollResult.EXPIRED
    if row.state == DeviceLoginState.DENIED:
        return PollResult.DENIED
    if row.state == DeviceLoginState.APPROVED:
        return _issue(row)
    is_early = row.polled_at is not None and now - row.polled_at < timedelta(seconds=INTERVAL_S / 2)
    DeviceLogin.objects.filter(pk=row.pk).update(polled_at=now)
    return PollResult.SLOW_DOWN if is_early else PollResult.PENDING


@transaction.atomic
def _issue(row: DeviceLogin) -> IssuedToken | PollResult:
    """Creates the token. The conditional UPDATE lets only one of several polls do so."""
    approved = DeviceLogin.objects.filter(pk=row.pk, state=DeviceLoginState.APPROVED)
    if not approved.update(state=DeviceLoginState.USED):
        return PollResult.EXPIRED
    assert row.user
    assert row.token_expires_at
    if not row.user.is_active:
        return PollResult.DENIED
    try:
        _, secret = tokens.issue(
            row.user,
            name=row.label,
            scopes=row.scopes,
            expires_at=row.token_expires_at,
            team=row.team,
            by=Actor(user=row.user),
        )
    except Refusal:  # the person left the team in the meantime
        return PollResult.DENIED
    return IssuedToken(secret, tuple(row.scopes))


def _close(login: DeviceLogin, state: DeviceLoginState, **granted: object) -> None:
    """Ends the open login, or raises DEVICE_CODE_UNKNOWN if another request did so first."""
    still_open = DeviceLogin.objects.filter(
        pk=login.pk, state=DeviceLoginState.PENDING, expires_at__gt=timezone.now()
    )
    if not still_open.update(state=state, **granted):
        raise DEVICE_CODE_UNKNOWN.refusal()


def _require_person(by: Actor) -> User:
    if by.user is None or by.token or by.user.is_service:
        raise FORBIDDEN.refusal(action="confirm a device login")
    return by.user


def _label(label: str) -> str:
    """The client's name for itself, in one line and shortened."""
    line = " ".join(part for part in label.split() if part.isprintable())
    return texts.validated(line[:_MAX_LABEL_CHARS] or "CLI", field="label", max_length=_MAX_LABEL_CHARS)
