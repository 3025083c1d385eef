from __future__ import annotations

import pytest

from registry.actors import Actor
from registry.packages.package import Manifest, Package, PackageFile


def make_package(slug="report", *, body="# Report", files=(), problems=(), **manifest):
    """A package as the gate makes it, without its archive; what differs is told apart by its SKILL.md."""
    fields = {"name": slug, "display_name": manifest.get("name", slug), "description": "Writes a report."}
    typed = Manifest(slug=slug, **(fields | manifest))
    skill_md = PackageFile("SKILL.md", f"{typed!r}\n{body}".encode())
    return Package((skill_md, *files), typed, body, "agentskills", tuple(problems))


@pytest.fixture
def package_of():
    return make_package


@pytest.fixture
def published(team, alice):
    """``published("slug", …)``: the package published by Alice, in the team Docs unless another is given."""
    from registry.publishing import publish

    def make(slug="report", *, into=team, by=None, visibility=None, version="1.0.0", **manifest):
        package = make_package(slug, version=version, **manifest)
        done = publish(package, team=into, actor=by or Actor(user=alice), visibility=visibility)
        return done.version

    return make
