"""Tags of the shell: the links of sidebar and phone bar, and the tabs of a team."""

from typing import Any

from django import template

from portal.presenters.navigation import NavGroup, NavLink, navigation_groups
from portal.presenters.navigation import phone_links as links_on_phones
from portal.presenters.navigation import team_tabs as tabs_of_team
from registry.models import Team

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: template.Context) -> list[NavGroup]:
    """The link groups of the sidebar that the actor may open."""
    return navigation_groups(_actor(context))


@register.simple_tag(takes_context=True)
def phone_links(context: template.Context) -> list[NavLink]:
    """The links of the bar at the bottom of phones."""
    return links_on_phones(_actor(context))


@register.simple_tag(takes_context=True)
def team_tabs(context: template.Context, team: Team, current: str) -> list[dict[str, Any]]:
    """The tabs of a team's pages that the actor may open."""
    return tabs_of_team(team, _actor(context), current)


def _actor(context: template.Context) -> Any:
    return context.get("actor")
