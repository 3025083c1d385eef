"""What the scripts of a package need is stored when it is published, and told apart from what it declares."""

from __future__ import annotations

import pytest

from registry.versions.needs.version_needs import version_needs
from tests.factories.skills import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("A8")]

HEAD = "---\nname: tables\ndescription: For tests.\nversion: 1.0.0\n{more}---\n# Tables\n"
SCRIPT = (
    b"import os, subprocess\nimport pypdf, requests, rare_module\nsubprocess.run(['soffice'])\n"
    b"requests.get('https://api.crossref.org/works')\nrequests.get('https://doi.org/x')\n"
    b"os.environ['GITHUB_TOKEN'], os.environ['OTHER_KEY']\n"
)
MANIFEST = """security:
  network: allowlist
  network_allowlist: ["*.crossref.org"]
  secrets: [OTHER_KEY]
"""


@pytest.fixture
def publish_scripts(team, alice):
    def publish(more="", **scripts):
        files = {f"scripts/{name}.py": data for name, data in scripts.items()}
        return publish_files(
            {"SKILL.md": HEAD.format(more=more).encode(), "requirements.txt": b"pypdf\n", **files},
            team=team,
            user=alice,
        )

    return publish


def test_declared_needs_are_provided(publish_scripts):
    version = publish_scripts(MANIFEST, main=SCRIPT)
    needs = {(need.kind, need.label): need.state for need in version_needs(version)}
    assert needs == {
        ("module", "pypdf"): "provided",
        ("module", "rare_module"): "missing",
        ("module", "requests"): "missing",
        ("program", "LibreOffice"): "unknown",
        ("host", "api.crossref.org"): "provided",
        ("host", "doi.org"): "missing",
        ("secret", "GITHUB_TOKEN"): "missing",
        ("secret", "OTHER_KEY"): "provided",
    }


def test_unknown_module_has_no_distribution(publish_scripts):
    version = publish_scripts(main=SCRIPT)
    found = {need.name: need.distribution for need in version_needs(version) if need.kind == "module"}
    assert found == {"pypdf": "pypdf", "rare_module": "", "requests": "requests"}


def test_needs_of_scripts_are_merged(publish_scripts):
    version = publish_scripts(
        first=b"import numpy\nprint(1)\n", second=b"def late():\n    import numpy, yaml\n\n\nlate()\n"
    )
    needs = {need.name: (need.required, need.scripts) for need in version_needs(version)}
    assert needs == {
        "numpy": (True, ("scripts/first.py", "scripts/second.py")),
        "yaml": (False, ("scripts/second.py",)),
    }
    assert [need.name for need in version_needs(version, path="scripts/first.py")] == ["numpy"]


def test_script_without_needs_has_none(publish_scripts):
    assert version_needs(publish_scripts(main=b"import json\nprint(json.dumps({}))\n")) == ()


def test_needs_are_part_of_the_version_document(publish_scripts, client):
    version = publish_scripts(main=b"import requests\nrequests.get('https://doi.org/x')\n")
    client.force_login(version.published_by)
    document = client.get(f"/api/v1/skills/{version.skill}/versions/{version.number}").json()
    assert [(need["kind"], need["name"], need["state"]) for need in document["needs"]] == [
        ("module", "requests", "missing"),
        ("host", "doi.org", "missing"),
    ]
