"""The lines that get a skill to where it is used, to be copied as they are."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.showing.curl import run_line
from portal.showing.skill_use import Offer, example_call
from registry.addresses import absolute
from registry.models import Version, Visibility


@dataclass(frozen=True)
class Line:
    id: str
    label: str
    text: str


def lines_for(offer: Offer) -> list[Line]:
    """Download and unpack; start a run where something can be run."""
    found = [Line("install-download", _("Download and unpack"), download_line(offer.version))]
    if offer.callable or offer.menu.prompt:
        found.append(Line("install-run", _("Start a run"), run_line(example_call(offer), indent=None)))
    return found


def download_line(version: Version) -> str:
    """A public skill is downloaded without a token."""
    skill = version.skill
    archive = f"{skill.slug}-{version.number}.zip"
    address = absolute(f"/api/v1/skills/{skill}/versions/{version.number}/archive")
    token = "" if skill.seen_as == Visibility.PUBLIC else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    folder = f".claude/skills/{skill.slug}"
    return f"curl -fsSL{token} -o {archive} {address}\nmkdir -p {folder} && unzip -o {archive} -d {folder}"
