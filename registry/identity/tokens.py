"""Creates, rotates, revokes and checks access tokens. A secret is shown once and stored as a digest."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from registry.batched_writes import Batch
from registry.core import text
from registry.core.errors import NOT_FOUND
from registry.core.sql import prepared
from registry.identity import audit, client_address, errors
from registry.identity.actors import Actor
from registry.identity.permissions import (
    Action,
    in_scope,
    may,
    require_scope,
    require_unarchived,
    teams_where,
)
from registry.identity.token_format import PREFIX, digest, is_well_formed, new_secret
from registry.models import Scope, Team, Token, User, UserKind

DEFAULT_DAYS = 30
MAX_DAYS = 366
DEFAULT_OVERLAP_HOURS = 24
MAX_OVERLAP_HOURS = 7 * 24
UNDO_PERIOD = timedelta(minutes=10)
LAST_USED_INTERVAL = timedelta(minutes=1)
_SHOWN = len(PREFIX) + 6  # characters of a secret that lists show


@prepared
def _active_tokens(stored: str, now: datetime) -> QuerySet[Token]:
    secrets = Q(secret_hash=stored) | Q(previous_hash=stored, previous_expires_at__gt=now)
    rows = Token.objects.select_related("owner", "team").filter(secrets, revoked_at=None, expires_at__gt=now)
    return rows.filter(owner__is_active=True).order_by("pk")


def issue(
    owner: User,
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime,
    by: Actor,
    team: Team | None = None,
) -> tuple[Token, str]:
    """Creates a token and returns it with its secret, which can't be read again.

    Raises FORBIDDEN, TOKEN_SCOPE_MISSING or TEAM_ARCHIVED unless the actor manages the owner's tokens, and
    TOKEN_LIMIT_EXCEEDED if the actor uses a token that can do less. Raises NOT_FOUND if the owner is
    neither in ``team`` nor an administrator. Raises TEXT_INVALID, TOKEN_SCOPE_UNKNOWN or
    TOKEN_EXPIRY_INVALID for the other fields.
    """
    _require_manager(owner, team, by)
    if not scopes or not set(scopes) <= set(Scope.values):
        raise errors.TOKEN_SCOPE_UNKNOWN.refusal(scopes=tuple(Scope.values)).at("scopes")
    _check_expiry(expires_at)
    if team and not (owner.is_superuser or owner.memberships.filter(team=team).exists()):
        raise NOT_FOUND.refusal(what="team", name=team.slug)
    _require_within(by, scopes, expires_at, team)
    secret = new_secret()
    with transaction.atomic():
        token = Token.objects.create(
            owner=owner,
            team=team,
            name=text.validated(name, field="name", max_length=120),
            prefix=secret[:_SHOWN],
            secret_hash=digest(secret),
            scopes=sorted(scopes),
            expires_at=expires_at,
        )
        audit.record(by, "token.issue", token.uid, team=team, name=token.name, scopes=token.scopes)
    return token, secret


@transaction.atomic
def rotate(
    token: Token,
    by: Actor,
    *,
    overlap_hours: int = DEFAULT_OVERLAP_HOURS,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Gives the token a new secret and returns both. The previous secret keeps working for
    ``overlap_hours``; an older one stops working at once. ``expires_at`` of None keeps the token's expiry
    date.

    Raises the errors of ``issue``, TOKEN_ENDED for a token that has expired or was revoked, and
    OVERLAP_INVALID for hours outside 0 to MAX_OVERLAP_HOURS.
    """
    _require_manager(token.owner, token.team, by)
    now, token = timezone.now(), Token.objects.select_for_update().get(pk=token.pk)
    if state_of(token, now) != "active":
        raise errors.TOKEN_ENDED.refusal()
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise errors.OVERLAP_INVALID.refusal(most=MAX_OVERLAP_HOURS).at("overlap_hours")
    if expires_at:
        _check_expiry(expires_at)
        token.expires_at = expires_at
    _require_within(by, token.scopes, token.expires_at, token.team, rotated=token)
    secret = new_secret()
    token.previous_hash = token.secret_hash if overlap_hours else None
    token.previous_expires_at = now + timedelta(hours=overlap_hours) if overlap_hours else None
    token.secret_hash, token.prefix = digest(secret), secret[:_SHOWN]
    token.save(update_fields=["secret_hash", "prefix", "previous_hash", "previous_expires_at", "expires_at"])
    audit.record(by, "token.rotate", token.uid, team=token.team, name=token.name, overlap_hours=overlap_hours)
    return token, secret


def revoke(token: Token, by: Actor) -> None:
    """Revokes the token with immediate effect. A second call changes nothing. Raises FORBIDDEN unless the
    actor manages the owner's tokens.
    """
    _require_manager(token.owner, token.team, by, even_archived=True)
    with transaction.atomic():
        change = {"revoked_at": timezone.now(), "revoked_by": by.user}
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(**change):
            audit.record(by, "token.revoke", token.uid, team=token.team, name=token.name)
    token.refresh_from_db(fields=["revoked_at", "revoked_by"])


def restore(token: Token, by: Actor) -> None:
    """Undoes a revocation. Only the person who revoked the token can do this, in a session and within
    UNDO_PERIOD. Raises FORBIDDEN unless the actor manages the owner's tokens. Raises UNDO_EXPIRED in all
    other cases, and if the token has expired.
    """
    _require_manager(token.owner, token.team, by, even_archived=True)
    now = timezone.now()
    with transaction.atomic():
        rows = Token.objects.filter(pk=token.pk, revoked_at__gt=now - UNDO_PERIOD, expires_at__gt=now)
        own = rows.filter(revoked_by=by.user) if by.user and not by.token else rows.none()
        if not own.update(revoked_at=None, revoked_by=None):
            raise errors.UNDO_EXPIRED.refusal()
        audit.record(by, "token.restore", token.uid, team=token.team, name=token.name)
    token.refresh_from_db(fields=["revoked_at", "revoked_by"])


def managed_tokens(by: Actor) -> QuerySet[Token]:
    """The tokens that the actor may list, rotate and revoke: their own, and those of service accounts of
    teams whose members they manage. Administrators in a session get all tokens. An actor with a token
    without the scope ``administer`` gets none.
    """
    rows = Token.objects.select_related("owner", "team").filter(is_link=False)
    if not in_scope(by, Action.MEMBERS):
        return rows.none()
    if by.is_administrator and not by.token:
        return rows
    service = Q(owner__kind=UserKind.SERVICE)
    if not by.is_administrator:
        service &= Q(team__in=teams_where(by, Action.MEMBERS))
    own = Q(owner=by.user) if by.user else Q(pk__in=())
    if by.token and by.token.team_id:
        own &= Q(team=by.token.team_id)
    return rows.filter(own | service)


def find_token(uid: str, by: Actor) -> Token:
    """The token with this uid. Raises NOT_FOUND for tokens that the actor does not manage."""
    token = managed_tokens(by).filter(uid=uid).first()
    if token is None:
        raise NOT_FOUND.refusal(what="token", name=uid[:40])
    return token


def manages(owner: User, team: Team | None, by: Actor, *, even_archived: bool = False) -> bool:
    """Whether the actor may manage the owner's tokens for ``team``. Users manage their own tokens, owners of
    a team those of its service accounts, and administrators in a session all tokens.
    """
    if by.user == owner or (by.is_administrator and not by.token):
        return True
    return owner.is_service and may(by, Action.MEMBERS, team=team, even_archived=even_archived)


def state_of(token: Token, now: datetime) -> str:
    """The token's state: ``active``, ``expired`` or ``revoked``."""
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at <= now else "active"


def in_state(rows: QuerySet[Token], state: str, now: datetime) -> QuerySet[Token]:
    """The tokens in this state, as defined by ``state_of``."""
    if state == "revoked":
        return rows.filter(revoked_at__isnull=False)
    rows = rows.filter(revoked_at=None)
    return rows.filter(expires_at__lte=now) if state == "expired" else rows.filter(expires_at__gt=now)


def expiry_after(days: int | None, by: Actor) -> datetime:
    """The time after this number of days. Without ``days``, the time after DEFAULT_DAYS, but not later than
    the actor's own token expires.
    """
    expires_at = timezone.now() + timedelta(days=DEFAULT_DAYS if days is None else days)
    return min(expires_at, by.token.expires_at) if by.token and days is None else expires_at


def actor_of(secret: str) -> Actor:
    """The actor that this token secret authenticates. Records time and address of the use, at most once a
    minute. Every failure raises the same TOKEN_INVALID.
    """
    return _actor_of(secret, is_link=False)


def link_actor(secret: str) -> Actor:
    """Like ``actor_of``, for the secret of an install link. A link is not accepted as a token, and a token
    not as a link.
    """
    return _actor_of(secret, is_link=True)


def _actor_of(secret: str, *, is_link: bool) -> Actor:
    now = timezone.now()
    token = _find_active(digest(secret), now) if is_well_formed(secret) else None
    if token is None or token.is_link != is_link:
        raise errors.TOKEN_INVALID.refusal()
    if token.last_used_at is None or token.last_used_at <= now - LAST_USED_INTERVAL:
        with suppress(OperationalError):  # a full disk must not stop readers
            note_token_use(token.pk, client_address.current())
    return Actor(user=token.owner, token=token, scopes=frozenset(token.scopes))


def note_token_use(token_id: int, address: str) -> None:
    """Records time and client address of a use of the token, at most once a minute. A web process writes them
    in batches within a second, not in this call.
    """
    _last_uses.add(token_id, (timezone.now(), address[:64]))


def _write_last_uses(uses: Mapping[int, tuple[datetime, str]]) -> None:
    stale = Q(last_used_at=None) | Q(last_used_at__lte=timezone.now() - LAST_USED_INTERVAL)
    for pk in Token.objects.filter(stale, pk__in=uses).order_by("pk").values_list("pk", flat=True):
        at, address = uses[pk]
        Token.objects.filter(stale, pk=pk).update(last_used_at=at, last_used_address=address)


_last_uses: Batch[int, tuple[datetime, str]] = Batch(_write_last_uses)


def _find_active(stored: str, now: datetime) -> Token | None:
    """The token with this current or previous digest, if it and its owner are active."""
    token = _active_tokens(stored, now).first()
    archived = token and token.owner.is_service and token.team and token.team.archived_at
    return None if archived else token


def _require_manager(owner: User, team: Team | None, by: Actor, *, even_archived: bool = False) -> None:
    """Raises FORBIDDEN unless the actor manages the owner's tokens. Raises TOKEN_SCOPE_MISSING for a token
    without the scope ``administer``, and TEAM_ARCHIVED for a service account of an archived team.
    """
    if not manages(owner, team, by, even_archived=True):
        raise errors.FORBIDDEN.refusal(action="manage tokens")
    require_scope(by, Action.MEMBERS)
    if owner.is_service and not even_archived:
        require_unarchived(team)


def _require_within(
    by: Actor,
    scopes: Collection[str],
    expires_at: datetime,
    team: Team | None,
    *,
    rotated: Token | None = None,
) -> None:
    """Raises TOKEN_LIMIT_EXCEEDED if the actor uses a token, and a token with these properties could do more.

    Rules count too. A new token would lack the deny rules of the actor's token. The secret of a rotated token
    comes with that token's allow rules.
    """
    own = by.token
    if own is None:
        return
    gains_rules = _has_rules(own, "deny") or (rotated is not None and _has_rules(rotated, "allow"))
    exceeded = {
        "scopes": not set(scopes) <= by.scopes,
        "expires_at": expires_at > own.expires_at,
        "team": own.team_id is not None and (team is None or team.pk != own.team_id),
        "rules": gains_rules and (rotated is None or rotated.pk != own.pk),
    }
    for field, exceeds in exceeded.items():
        if exceeds:
            raise errors.TOKEN_LIMIT_EXCEEDED.refusal(field=field).at(field)


def _has_rules(token: Token, effect: str) -> bool:
    return token.rules.filter(effect=effect, removed_at=None).exists()


def _check_expiry(expires_at: datetime) -> None:
    now = timezone.now()
    if not now < expires_at <= now + timedelta(days=MAX_DAYS):
        raise errors.TOKEN_EXPIRY_INVALID.refusal().at("expires_at")
