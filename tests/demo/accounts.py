"""Fills the pages of accounts: tokens in each state, a service account, an invitation, an archived team."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.utils import timezone

from registry.accounts import invitations, service_accounts
from registry.identity import teams, tokens
from registry.identity.actors import Actor
from registry.models import Invitation, Role, Scope, Team, Token, User
from tests.demo import INVITATION, SERVICE_ACCOUNT, SERVICE_TOKEN, TOKEN


def fill_accounts(team: Team, by: Actor) -> None:
    """The actor is an owner of the team."""
    assert by.user
    robot = service_accounts.create(team, "ci", Role.MAINTAINER, by).user
    User.objects.filter(pk=robot.pk).update(uid=SERVICE_ACCOUNT)
    quiet = service_accounts.create(team, "nightly-import", Role.MEMBER, by)
    service_accounts.deactivate(quiet, by)
    _issue(robot, "Build server", by, SERVICE_TOKEN, team=team)
    _issue(by.user, "report-agent", by, TOKEN)
    tokens.revoke(_issue(by.user, "Old laptop", by), by)
    tokens.rotate(_issue(by.user, "Dashboard", by, team=team), by, overlap_hours=24)
    expired = _issue(by.user, "Migration 2025", by)
    Token.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(days=2))
    used = {"last_used_at": timezone.now() - timedelta(hours=3), "last_used_address": "2001:db8::7334"}
    Token.objects.filter(uid__in=(TOKEN, SERVICE_TOKEN)).update(**used)
    made = invitations.invite(by, team=team, role=Role.VIEWER).invitation
    digest = hashlib.sha256(INVITATION.encode()).hexdigest()
    Invitation.objects.filter(pk=made.pk).update(secret_hash=digest)
    teams.archive(teams.create_team("research", "Research", by), by)


def _issue(owner: User, name: str, by: Actor, uid: str = "", *, team: Team | None = None) -> Token:
    until = timezone.now() + timedelta(days=30)
    token, _ = tokens.issue(owner, name=name, scopes=Scope.values, expires_at=until, by=by, team=team)
    if uid:
        Token.objects.filter(pk=token.pk).update(uid=uid)
        token.refresh_from_db()
    return token
