"""The tabs of a skill's pages."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.core.sql import Reads, count_rows, reader
from registry.models import Skill, Version


@dataclass(frozen=True)
class Tab:
    """A tab for ``components/tabs.html``; views pass its ``name`` to ``layout``."""

    name: str
    label: str | Promise
    url: str
    current: bool
    count: int | None = None


@reader
def skill_tabs(
    skill: Skill, version: Version | None, current: str, *, is_signed_in: bool, may_change: bool
) -> Reads[list[Tab]]:
    """The tabs that the actor may open; without the tabs of a version if ``version`` is None."""
    yield (versions := count_rows(skill.versions.all()))
    place = (skill.team.slug, skill.slug)

    def tab(name: str, label: Promise | str, route: str, *more: str, count: int | None = None) -> Tab:
        return Tab(name, label, reverse(route, args=[*place, *more]), name == current, count)

    tabs = [
        tab("overview", _("Overview"), "skill"),
        tab("versions", _("Versions"), "versions", count=sum(versions)),
    ]
    if version:
        tabs.append(tab("files", _("Files"), "files", version.number))
        tabs.append(tab("findings", _("Findings"), "findings", version.number))
    tabs.append(tab("usage", _("Usage"), "skill-usage"))
    if is_signed_in:
        tabs.append(tab("runs", pgettext_lazy("list", "Runs"), "skill-runs"))
    if may_change:
        tabs.append(tab("feedback", _("Feedback"), "skill-feedback"))
        tabs.append(tab("settings", _("Settings"), "skill-settings"))
    return tabs
