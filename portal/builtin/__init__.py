"""Built-in skills that teach agents to find, run and publish skills on this site.

In a text, ``⟦api-skill team slug⟧`` becomes the URL of the route ``api-skill`` with the placeholders TEAM and
SLUG.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse

from registry.core.addresses import absolute_url
from registry.identity.actors import Actor
from registry.models import Skill, Team, Visibility
from registry.packages.package import Package
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

SOURCE = "builtin"
TEAM = "skillquay"
_TEXTS = Path(__file__).parent
_ADDRESS = re.compile(r"⟦([a-z-]+)((?: [a-z]+)*)⟧")


def packages() -> Iterator[Package]:
    """Yields the packages. They have no version, so publishing a changed text creates a new patch version."""
    for text in sorted(_TEXTS.glob("*.md")):
        written = _ADDRESS.sub(_address, text.read_text(encoding="utf-8"))
        yield read_files([("SKILL.md", written.encode())], filename=f"{text.stem}.md")


def publish_builtin(actor: Actor) -> int:
    """Publishes new and changed packages as public, bundled skills, and returns their number.

    Creates the team ``TEAM`` if it does not exist.
    """
    team, _ = Team.objects.get_or_create(slug=TEAM, defaults={"name": "Skillquay"})
    done = [
        publish(package, team=team, actor=actor, visibility=Visibility.PUBLIC, source=SOURCE)
        for package in packages()
    ]
    new = [each.version.skill_id for each in done if each.created]
    Skill.objects.filter(pk__in=new).update(is_bundled=True)
    return len(new)


def _address(found: re.Match[str]) -> str:
    return absolute_url(reverse(found[1], kwargs={name: name.upper() for name in found[2].split()}))
