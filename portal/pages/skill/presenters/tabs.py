"""The tabs of a skill's pages."""

from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet
from django.urls import get_script_prefix, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.core.sql import Reads, count_rows, prepared, reader
from registry.models import Skill, Version


@dataclass(frozen=True)
class Tab:
    """A tab for ``components/tabs.html``; views pass its ``name`` to ``layout``."""

    name: str
    label: str | Promise
    url: str
    current: bool
    count: int | None = None


@prepared
def _version_count(skill: int) -> QuerySet[Version, int]:
    return count_rows(Version.objects.filter(skill_id=skill))


@reader
def skill_tabs(
    skill: Skill, version: Version | None, current: str, *, is_signed_in: bool, may_change: bool
) -> Reads[list[Tab]]:
    """The tabs that the actor may open; without the tabs of a version if ``version`` is None."""
    yield (versions := _version_count(skill.pk))
    place = (skill.team.slug, skill.slug)

    def tab(name: str, label: Promise | str, route: str, *more: str, count: int | None = None) -> Tab:
        return Tab(name, label, _url(get_script_prefix(), route, *place, *more), name == current, count)

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


@lru_cache(maxsize=4_096)
def _url(script_prefix: str, route: str, *args: str) -> str:
    """The URL of a route, cached because reversing takes longer than the rest of a tab."""
    return reverse(route, args=args)
