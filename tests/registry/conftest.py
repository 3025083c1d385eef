from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.packages.package import Manifest, Package, PackageFile


def make_package(slug="report", *, body="# Report", files=(), problems=(), **manifest):
    """A validated package without its archive. Different arguments give a different SKILL.md and digest."""
    fields = {"name": slug, "display_name": manifest.get("name", slug), "description": "Writes a report."}
    typed = Manifest(slug=slug, **(fields | manifest))
    skill_md = PackageFile("SKILL.md", f"{typed!r}\n{body}".encode())
    return Package((skill_md, *files), typed, body, "agentskills", tuple(problems))


@pytest.fixture
def package_of():
    return make_package


@pytest.fixture
def publish_skill(team, alice):
    """``publish_skill("slug", …)``: publishes as Alice in the team Docs, unless ``by`` or ``into`` differ."""
    from registry.versions.publishing.publish import publish

    def make(slug="report", *, into=team, by=None, visibility=None, version="1.0.0", **manifest):
        package = make_package(slug, version=version, **manifest)
        done = publish(package, team=into, actor=by or Actor(user=alice), visibility=visibility)
        return done.version

    return make
