"""Access tokens: 256 random bits, shown once, stored as SHA-256."""

import hashlib
import re
import secrets
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN, TOKEN_EXPIRY_INVALID, TOKEN_INVALID, TOKEN_SCOPE_UNKNOWN
from registry.models import Scope, Team, Token, User

TOKEN_PREFIX = "sq_"  # recognized by secret scanners
MAX_LIFETIME = timedelta(days=366)
LAST_USED_INTERVAL = timedelta(minutes=1)
_SECRET = re.compile(TOKEN_PREFIX + "[A-Za-z0-9_-]{43}")


def issue(
    owner: User,
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime,
    by: Actor,
    team: Team | None = None,
) -> tuple[Token, str]:
    """Creates a token; returns it with its secret, which is never available again."""
    _require_token_administrator(owner, by)
    _check_scopes_and_expiry(scopes, expires_at)
    if team and not (owner.is_superuser or owner.memberships.filter(team=team).exists()):
        raise NOT_FOUND.refusal(what="team", name=team.slug)
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = Token.objects.create(
            owner=owner,
            team=team,
            name=text.validated(name, field="name", max_length=120),
            prefix=secret[:9],
            secret_hash=_hash(secret),
            scopes=sorted(scopes),
            expires_at=expires_at,
        )
        audit.record(by, "token.issue", token.uid, team=team, name=token.name, scopes=token.scopes)
    return token, secret


def revoke(token: Token, by: Actor) -> None:
    """Revokes the token with immediate effect. A second call changes nothing."""
    _require_token_administrator(token.owner, by)
    with transaction.atomic():
        revoked = Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
        if revoked:
            audit.record(by, "token.revoke", token.uid, team=token.team, name=token.name)
    token.refresh_from_db(fields=["revoked_at"])


def find_token(uid: str, by: Actor) -> Token:
    """The actor's token; any for administrators. Raises NOT_FOUND for others, or if the actor has a token."""
    rows = Token.objects.select_related("owner", "team").filter(uid=uid)
    token = rows.first() if by.is_administrator else rows.filter(owner=by.user).first()
    if token is None or by.token:
        raise NOT_FOUND.refusal(what="token", name=uid[:40])
    return token


def actor_of(secret: str) -> Actor:
    """The actor that this token secret authenticates. Every failure raises the same TOKEN_INVALID."""
    now = timezone.now()
    token = None
    if _SECRET.fullmatch(secret):
        token = (
            Token.objects.select_related("owner", "team")
            .filter(secret_hash=_hash(secret), revoked_at=None, expires_at__gt=now, owner__is_active=True)
            .first()
        )
    if token is None:
        raise TOKEN_INVALID.refusal()
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - LAST_USED_INTERVAL)
    if token.last_used_at is None or token.last_used_at <= now - LAST_USED_INTERVAL:
        with suppress(OperationalError):  # a full disk must not stop readers
            Token.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return Actor(user=token.owner, token=token, scopes=frozenset(token.scopes))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _require_token_administrator(owner: User, by: Actor) -> None:
    """Raises FORBIDDEN if the actor uses a token, or is neither ``owner`` nor an administrator."""
    if by.token or not (by.is_administrator or by.user == owner):
        raise FORBIDDEN.refusal(action="administer tokens")


def _check_scopes_and_expiry(scopes: Collection[str], expires_at: datetime) -> None:
    if not scopes or not set(scopes) <= set(Scope.values):
        raise TOKEN_SCOPE_UNKNOWN.refusal(scopes=", ".join(Scope.values)).at("scopes")
    if not timezone.now() < expires_at <= timezone.now() + MAX_LIFETIME:
        raise TOKEN_EXPIRY_INVALID.refusal().at("expires_at")
