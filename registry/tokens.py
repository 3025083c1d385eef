"""Access tokens: 256 random bits, shown once, kept as a SHA-256 that a database's thief cannot use."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from registry import audit, texts
from registry.actors import Actor
from registry.models import Scope, Team, Token, User
from registry.packages.problems import refuse

MARK = "sq_"  # what a secret scanner recognises ours by
LONGEST = timedelta(days=366)
SEEN_EVERY = timedelta(minutes=1)
_SECRET = re.compile(MARK + "[A-Za-z0-9_-]{43}")


def issue(
    owner: User,
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime,
    by: Actor,
    team: Team | None = None,
) -> tuple[Token, str]:
    """A new token and its secret, which is never to be had again."""
    _may_administer(owner, by)
    _check(scopes, expires_at)
    if team and not (owner.is_superuser or owner.memberships.filter(team=team).exists()):
        raise refuse("NOT_FOUND", what="team", name=team.slug)
    secret = MARK + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = Token.objects.create(
            owner=owner,
            team=team,
            name=texts.plain(name, field="name", most=120),
            prefix=secret[:9],
            secret_hash=_hash(secret),
            scopes=sorted(scopes),
            expires_at=expires_at,
        )
        audit.record(by, "token.issue", token.uid, team=team, name=token.name, scopes=token.scopes)
    return token, secret


def revoke(token: Token, by: Actor) -> None:
    """Ends the token at once; a second time changes nothing."""
    _may_administer(token.owner, by)
    with transaction.atomic():
        revoked = Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
        if revoked:
            audit.record(by, "token.revoke", token.uid, team=token.team, name=token.name)
    token.refresh_from_db(fields=["revoked_at"])


def find_token(uid: str, by: Actor) -> Token:
    """One of the person's own, any for the administrator; a token finds none, not even itself."""
    rows = Token.objects.select_related("owner", "team").filter(uid=uid)
    token = rows.first() if by.is_administrator else rows.filter(owner=by.user).first()
    if token is None or by.token:
        raise refuse("NOT_FOUND", what="token", name=uid[:40])
    return token


def actor_of(secret: str) -> Actor:
    """The actor that a secret speaks for; every reason to refuse looks the same."""
    now = timezone.now()
    token = None
    if _SECRET.fullmatch(secret):
        token = (
            Token.objects.select_related("owner", "team")
            .filter(secret_hash=_hash(secret), revoked_at=None, expires_at__gt=now, owner__is_active=True)
            .first()
        )
    if token is None:
        raise refuse("TOKEN_INVALID")
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - SEEN_EVERY)
    if token.last_used_at is None or token.last_used_at <= now - SEEN_EVERY:
        Token.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return Actor(user=token.owner, token=token, scopes=frozenset(token.scopes))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _may_administer(owner: User, by: Actor) -> None:
    """Tokens are made and ended by their owner in person, or by the administrator; never by a token."""
    if by.token or not (by.is_administrator or by.user == owner):
        raise refuse("FORBIDDEN", action="administer tokens")


def _check(scopes: Collection[str], expires_at: datetime) -> None:
    if not scopes or not set(scopes) <= set(Scope.values):
        raise refuse("TOKEN_SCOPE_UNKNOWN", path="scopes", scopes=", ".join(Scope.values))
    if not timezone.now() < expires_at <= timezone.now() + LONGEST:
        raise refuse("TOKEN_EXPIRY_INVALID", path="expires_at")
