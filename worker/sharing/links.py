"""Creates, lists, revokes and opens share links, with which everyone who has the secret can see a run.

The secret has 128 random bits; only its SHA-256 digest is stored. A link is found by this digest, so the time
of a look-up reveals nothing about the secret.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core.addresses import absolute_url
from registry.core.errors import NOT_FOUND
from registry.identity import audit
from registry.identity.actors import Actor
from registry.identity.errors import FORBIDDEN
from registry.identity.permissions import Action, may
from worker.annotations.access import lock_for_change
from worker.models import Run, ShareLink
from worker.queue.states import ENDED
from worker.sharing.errors import SHARE_LINKS_OFF, SHARE_LINKS_TOO_MANY, SHARE_RUN_UNFINISHED

MAX_DAYS = 90
DEFAULT_DAYS = 7
MAX_LINKS = 20  # limit of active links of a run
_SECRET_BYTES = 16
_SECRET = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(frozen=True)
class LinkOptions:
    """The parts of a run that a link shows besides the outcome, and the days until it expires."""

    inputs: bool = False
    log: bool = False
    artifacts: bool = False
    days: int = DEFAULT_DAYS


def may_share(run: Run, actor: Actor) -> bool:
    """Whether the actor can create links to the run: as its caller, by their role in its team, or as
    administrator. False for tokens.

    The caller must check that the actor can read the run.
    """
    if actor.token is not None:
        return False
    is_caller = actor.user is not None and run.caller_id == actor.user.pk
    if run.team is None:
        return is_caller or actor.is_administrator
    return is_caller or may(actor, Action.SHARE_RUNS, team=run.team, even_archived=True)


def create_link(run: Run, options: LinkOptions, actor: Actor) -> tuple[ShareLink, str]:
    """Creates a link, with an audit entry, and returns it with its address, which can't be shown again.

    Raises FORBIDDEN unless ``may_share``, and SHARE_LINKS_OFF if the team forbids links. Raises
    SHARE_RUN_UNFINISHED before the run's end, SHARE_LINKS_TOO_MANY if the run has ``MAX_LINKS`` active links,
    and the refusals of ``lock_for_change``.
    """
    secret, now = secrets.token_urlsafe(_SECRET_BYTES), timezone.now()
    with transaction.atomic():
        row = lock_for_change(run, actor)
        user = actor.user
        if user is None or not may_share(row, actor):
            raise FORBIDDEN.refusal(action="share this run")
        if row.team and not row.team.share_links:
            raise SHARE_LINKS_OFF.refusal(team=row.team.slug)
        if row.status not in ENDED:
            raise SHARE_RUN_UNFINISHED.refusal()
        if _active(row).count() >= MAX_LINKS:
            raise SHARE_LINKS_TOO_MANY.refusal(limit=MAX_LINKS)
        link = ShareLink.objects.create(
            run=row,
            secret_hash=_hash(secret),
            with_inputs=options.inputs,
            with_log=options.log,
            with_artifacts=options.artifacts,
            created_by=user,
            created_at=now,
            expires_at=now + timedelta(days=options.days),
        )
        audit.record(
            actor,
            "share_link.create",
            row.uid,
            team=row.team,
            link=link.uid,
            inputs=options.inputs,
            log=options.log,
            artifacts=options.artifacts,
            days=options.days,
        )
    return link, absolute_url(f"/shared/{secret}/")


def links_of(run: Run) -> QuerySet[ShareLink]:
    """The run's links, newest first, including those that no longer work."""
    return run.share_links.select_related("created_by").order_by("-pk")


def find_link(run: Run, uid: str, actor: Actor) -> ShareLink:
    """The run's link with this uid; raises NOT_FOUND if there is none, FORBIDDEN unless ``may_share``."""
    require_sharer(run, actor)
    link = links_of(run).filter(uid=uid).first()
    if link is None:
        raise NOT_FOUND.refusal(what="share link", name=uid[:80])
    return link


def require_sharer(run: Run, actor: Actor) -> None:
    """Raises FORBIDDEN unless the actor can share the run, which they must be able to read."""
    if not may_share(run, actor):
        raise FORBIDDEN.refusal(action="share this run")


def revoke_link(link: ShareLink, actor: Actor) -> None:
    """Revokes the link at once, with an audit entry; safe to repeat.

    Raises FORBIDDEN for tokens, and unless the actor created the link or controls the run.
    """
    run = link.run
    is_creator = actor.user is not None and link.created_by_id == actor.user.pk
    if actor.token or not (is_creator or Run.objects.controlled_by(actor).filter(pk=run.pk).exists()):
        raise FORBIDDEN.refusal(action="revoke this share link")
    with transaction.atomic():
        changed = ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())
        if changed:
            audit.record(actor, "share_link.revoke", run.uid, team=run.team, link=link.uid)
    link.refresh_from_db(fields=["revoked_at"])


def open_link(secret: str) -> ShareLink:
    """The link with this secret, and its run. Raises the same NOT_FOUND for every link that does not work.

    A link stops working if it expires or is revoked, or if the run's content is erased or the run is purged.
    It also stops if its creator can no longer share the run, or the team forbids links.
    """
    if _SECRET.fullmatch(secret):
        links = ShareLink.objects.select_related("run__team", "run__skill", "created_by")
        link = links.filter(secret_hash=_hash(secret)).first()
        if link is not None and state_of(link) == "active":
            return link
    raise NOT_FOUND.refusal(what="share link", name="-")


def state_of(link: ShareLink) -> str:
    """The link's state: ``active``, ``revoked``, ``expired``, or ``blocked`` if the run, its team or the
    creator's rights have changed.
    """
    if link.revoked_at is not None:
        return "revoked"
    if link.expires_at <= timezone.now():
        return "expired"
    run, creator = link.run, Actor(user=link.created_by)
    works = (
        run.erased_at is None
        and link.created_by.is_active
        and (run.team is None or run.team.share_links)
        and may_share(run, creator)
        and Run.objects.readable_by(creator).filter(pk=run.pk).exists()
    )
    return "active" if works else "blocked"


def _active(run: Run) -> QuerySet[ShareLink]:
    return run.share_links.filter(revoked_at=None, expires_at__gt=timezone.now())


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
