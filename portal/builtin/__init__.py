"""The portal's own tools as skills: how an agent finds, runs and publishes here, with this site's addresses.

In the texts ``⟦api-skill team slug⟧`` stands for the address of that name, with TEAM and SLUG to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse

from registry.actors import Actor
from registry.addresses import absolute
from registry.models import Skill, Team, Visibility
from registry.packages.package import Package
from registry.packages.reading import read_files
from registry.publishing import publish

SOURCE = "builtin"
TEAM = "skillquay"
_TEXTS = Path(__file__).parent
_ADDRESS = re.compile(r"⟦([a-z-]+)((?: [a-z]+)*)⟧")


def packages() -> Iterator[Package]:
    """Without a version: one whose text has changed, or whose site has moved, becomes the next patch."""
    for text in sorted(_TEXTS.glob("*.md")):
        written = _ADDRESS.sub(_address, text.read_text(encoding="utf-8"))
        yield read_files([("SKILL.md", written.encode())], filename=f"{text.stem}.md")


def publish_builtin(actor: Actor) -> int:
    """Publishes what is new among them, for everybody; how many that were."""
    team, _ = Team.objects.get_or_create(slug=TEAM, defaults={"name": "Skillquay"})
    done = [
        publish(package, team=team, actor=actor, visibility=Visibility.PUBLIC, source=SOURCE)
        for package in packages()
    ]
    new = [each.version.skill_id for each in done if each.created]
    Skill.objects.filter(pk__in=new).update(is_bundled=True)
    return len(new)


def _address(found: re.Match[str]) -> str:
    return absolute(reverse(found[1], kwargs={name: name.upper() for name in found[2].split()}))
