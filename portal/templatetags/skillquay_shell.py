"""Tags of the shell: the links of sidebar and phone bar, and the tabs of a team."""

from typing import Any

from django import template

from portal.presenters.navigation import NavGroup, NavLink, NavRights, navigation_groups
from portal.presenters.navigation import nav_rights as rights_of
from portal.presenters.navigation import phone_links as links_on_phones
from portal.presenters.navigation import team_tabs as tabs_of_team
from registry.models import Team

register = template.Library()


@register.simple_tag(takes_context=True)
def nav_rights(context: template.Context) -> NavRights:
    """The rights of the actor on which the links of the shell depend."""
    return rights_of(_actor(context))


@register.simple_tag
def navigation(rights: NavRights) -> list[NavGroup]:
    """The link groups of the sidebar."""
    return navigation_groups(rights)


@register.simple_tag
def phone_links(rights: NavRights) -> list[NavLink]:
    """The links of the bar at the bottom of phones."""
    return links_on_phones(rights)


@register.simple_tag(takes_context=True)
def team_tabs(context: template.Context, team: Team, current: str) -> list[dict[str, Any]]:
    """The tabs of a team's pages that the actor may open."""
    return tabs_of_team(team, _actor(context), current)


def _actor(context: template.Context) -> Any:
    return context.get("actor")
