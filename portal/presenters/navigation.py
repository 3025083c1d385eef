"""The site's areas as links for the sidebar, the phone bar and the command palette."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.presenters.approvals import decides_approvals
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Team

# First part of the path → name of the link that is marked as current, if the two differ.
_AREAS = {
    "": "home",
    "api": "api-docs",
    "canonical": "canonicals",
    "skills": "catalog",
    "site": "site-status",
}
_OWN_LINK = {
    "/skills/listing/": "listing",
    "/site/audit/": "audit",
    "/site/retention/": "retention",
    "/site/sandbox/": "sandbox",
    "/site/users/": "users",
}


@dataclass(frozen=True)
class NavLink:
    """A link of the navigation. ``name`` is the name of its route; ``label`` is the translated text."""

    name: str
    label: str | Promise
    icon: str

    @property
    def url(self) -> str:
        return reverse(self.name)


@dataclass(frozen=True)
class NavGroup:
    title: str | Promise
    links: tuple[NavLink, ...]


HOME = NavLink("home", _("Home"), "site")
SKILLS = NavLink("catalog", _("Skills"), "skill")
RUNS = NavLink("runs", pgettext_lazy("list", "Runs"), "play")
FAILURES = NavLink("failures", _("Failures"), "bad")
APPROVALS = NavLink("approvals", _("Approvals"), "ok")
NOTIFICATIONS = NavLink("notifications", _("Notifications"), "bell")
SCHEDULES = NavLink("schedules", _("Schedules"), "queued")
PUBLISH = NavLink("publish", _("Publish"), "upload")
TEAMS = NavLink("teams", _("Teams"), "team")
CANONICALS = NavLink("canonicals", _("Canonical skills"), "star")
COLLECTIONS = NavLink("collections", _("Collections"), "folder")
LISTING = NavLink("listing", _("Agent listing"), "list")
_HELP = (NavLink("docs", _("Docs"), "reference"), NavLink("api-docs", _("API"), "code"))
_AUTOMATION = (
    NavLink("events", _("Events"), "bolt"),
    NavLink("imports", _("Imports"), "download"),
    NavLink("memory", pgettext_lazy("remembered", "Memory"), "file"),
)
_TEAM_TABS: list[tuple[str, str | Promise]] = [
    ("team-rules", _("Rules")),
    ("team-memory", pgettext_lazy("remembered", "Memory")),
    ("team-secrets", _("Secrets")),
    ("team-limits", _("Limits")),
    ("team-retention", _("Retention")),
    ("team-settings", _("Settings")),
]
_REVIEW = NavLink("held", _("Held for review"), "lock")
_ADMIN = (
    NavLink("users", _("Users"), "team"),
    NavLink("audit", _("Audit log"), "list"),
    NavLink("site-status", _("Site status"), "info"),
    NavLink("sandbox", _("Sandbox"), "lock"),
    NavLink("retention", _("Retention"), "queued"),
    NavLink("glossary", _("Glossary"), "language"),
)


def area_of(path: str) -> str:
    """The name of the link that is current on the page at ``path``."""
    first = path.strip("/").split("/")[0]
    own = next((name for start, name in _OWN_LINK.items() if path.startswith(start)), "")
    return own or _AREAS.get(first, first)


@dataclass(frozen=True)
class NavRights:
    """The rights of an actor on which the links depend; none of an anonymous user."""

    is_signed_in: bool = False
    decides_approvals: bool = False
    is_administrator: bool = False


def nav_rights(actor: Actor | None) -> NavRights:
    if actor is None or actor.user is None:
        return NavRights()
    return NavRights(True, decides_approvals(actor), actor.is_administrator)


def navigation_groups(rights: NavRights) -> list[NavGroup]:
    """The groups of links that may be opened: fewer for anonymous users, one more for administrators."""
    if not rights.is_signed_in:
        agents = NavGroup(_("For agents"), (COLLECTIONS, CANONICALS, LISTING))
        return [NavGroup("", (HOME, SKILLS)), agents, NavGroup(_("Help"), _HELP)]
    groups = [
        NavGroup("", tuple(_main_links(rights))),
        NavGroup(_("For agents"), (COLLECTIONS, CANONICALS, LISTING)),
        NavGroup(_("Automation"), (*_AUTOMATION, _REVIEW)),
        *([NavGroup(_("Administration"), _ADMIN)] if rights.is_administrator else []),
    ]
    return [*groups, NavGroup(_("Help"), _HELP)]


def phone_links(rights: NavRights) -> list[NavLink]:
    """The links of the bar at the bottom of phones, next to "More"."""
    if not rights.is_signed_in:
        return [HOME, SKILLS, LISTING]
    return [HOME, SKILLS, RUNS, *([APPROVALS] if rights.decides_approvals else [])]


def _main_links(rights: NavRights) -> Iterator[NavLink]:
    yield from (HOME, NOTIFICATIONS, SKILLS, RUNS, FAILURES)
    if rights.decides_approvals:
        yield APPROVALS
    yield from (SCHEDULES, PUBLISH, TEAMS)


def team_tabs(team: Team, actor: Actor | None, current: str) -> list[dict[str, Any]]:
    """The tabs of a team that the actor may open; ``current`` is the name of a route."""
    tabs: list[tuple[str, str | Promise]] = [("team", _("Skills"))]
    if actor and (team.pk in actor.team_ids or actor.is_administrator):
        tabs.append(("team-members", _("Members")))
        if may(actor, Action.MEMBERS, team=team, even_archived=True):
            tabs.append(("service-accounts", _("Service accounts")))
        if may(actor, Action.SETTINGS, team=team, even_archived=True):
            tabs.append(("team-activity", _("Activity")))
            tabs.append(("team-notifications", _("Notifications")))
        tabs += _TEAM_TABS
    return [
        {"url": reverse(name, args=[team.slug]), "label": label, "current": name == current}
        for name, label in tabs
    ]
