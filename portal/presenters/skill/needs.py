"""Presents the needs of a version's scripts, grouped by state."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.core.sql import Reads, reader
from registry.models import Version
from registry.versions.needs.version_needs import Need, version_needs

_GROUPS = (
    ("missing", "warn", _("Missing"), _("The scripts use these, but the package doesn't declare them:")),
    ("unknown", "quiet", _("Required programs"), _("These programs must be installed on the worker host:")),
    ("optional", "quiet", _("Optional"), _("Libraries that the scripts use only if installed:")),
    ("added", "ok", pgettext_lazy("state", "Added"), _("A maintainer added these to the version:")),
    ("provided", "ok", _("Declared"), _("The package declares these:")),
)


@dataclass(frozen=True)
class NeedGroup:
    """Needs of one state: "missing", "optional", "unknown", "added" or "provided".

    ``tone`` is warn, quiet or ok.
    """

    state: str
    tone: str
    about: str
    text: str
    names: tuple[str, ...]


@reader
def need_groups(version: Version, *, path: str = "") -> Reads[list[NeedGroup]]:
    """The needs of all scripts, or of the script with this path; the missing ones first."""
    yield version.ordered_needs
    states: dict[str, list[Need]] = {}
    for need in version_needs(version, path=path):
        states.setdefault(_state(need), []).append(need)
    return [
        NeedGroup(
            state, tone, str(about), str(text), tuple(dict.fromkeys(need.label for need in states[state]))
        )
        for state, tone, about, text in _GROUPS
        if state in states
    ]


def _state(need: Need) -> str:
    return "optional" if need.state == "missing" and not need.required else need.state
