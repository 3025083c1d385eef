"""Gives people who sign in with an issuer the team roles and administrator rights of their groups."""

from __future__ import annotations

import logging

from registry.accounts.users import follow_administrator_group
from registry.identity.teams import follow_group
from registry.models import Role, Team, User
from registry.single_sign_on.exchange import Identity

_log = logging.getLogger(__name__)


def apply_groups(user: User, identity: Identity) -> None:
    """Adds, changes and removes the user's memberships in the teams of the issuer's groups. If the issuer has
    an administrator group, also gives or removes administrator rights. Memberships in other teams stay.

    The last owner of a team and the last administrator keep their rights, and the audit trail records this.
    """
    issuer, groups = identity.issuer, identity.groups
    if groups is None:
        return
    slugs = sorted({slug for _group, slug, _role in issuer.groups})
    teams = {team.slug: team for team in Team.objects.filter(slug__in=slugs)}
    for slug in slugs:
        if slug in teams:
            follow_group(teams[slug], user, _highest_role(identity, slug), issuer=issuer.url)
        else:
            _log.warning("The groups of issuer %s name the team %s, which does not exist.", issuer.name, slug)
    if issuer.administrator_group:
        follow_administrator_group(user, issuer.administrator_group in groups, issuer=issuer.url)


def _highest_role(identity: Identity, slug: str) -> Role | None:
    held = identity.groups or frozenset()
    roles = [Role(role) for group, team, role in identity.issuer.groups if team == slug and group in held]
    return max(roles, key=list(Role).index, default=None)
