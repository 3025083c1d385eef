"""APM against a running site. It sends tokens only over HTTPS, so it installs a public skill here."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.clients.python_clients import install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs a client from PyPI")]
PACKAGE = "apm-cli==0.35.0"
PROJECT = """name: project
version: 1.0.0
targets: [claude]
registries:
  skillquay:
    url: {url}/apm
dependencies:
  apm:
    - {{id: docs/{slug}, registry: skillquay, version: "{version}"}}
"""


def apm(home, *arguments, ok=True):
    program = install(PACKAGE) / "apm"
    project = home / "project"
    project.mkdir(exist_ok=True)
    done = subprocess.run(
        [program, *arguments],
        cwd=project,
        env={**os.environ, "HOME": str(home), "NO_COLOR": "1", "CI": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.client("apm 0.35.0", "install a range", "update")
def test_client_installs_a_range_and_updates(site, change, tmp_path):
    site.publish("apm-made", "print('one')", team="docs")
    change("skills/docs/apm-made", visibility="public")
    apm(tmp_path, "experimental", "enable", "registries")
    project = tmp_path / "project"
    (project / "apm.yml").write_text(PROJECT.format(url=site.url, slug="apm-made", version="^1.0.0"))
    apm(tmp_path, "install")
    script = next(project.rglob("apm_modules/**/apm-made.py"))
    assert script.read_text() == "print('one')"
    assert site.upload("apm-made", "print('two')", team="docs", number="1.1.0")[0] == 201
    change("skills/docs/apm-made", visibility="public")
    apm(tmp_path, "install", "--update")
    assert script.read_text() == "print('two')"


@pytest.mark.client("apm 0.35.0", "private skill stays hidden")
@pytest.mark.row("P2")
def test_private_skill_is_not_found(site, tmp_path):
    site.publish("apm-hidden", "print('one')", team="docs")
    apm(tmp_path, "experimental", "enable", "registries")
    text = PROJECT.format(url=site.url, slug="apm-hidden", version="^1.0.0")
    (tmp_path / "project/apm.yml").write_text(text)
    assert "404" in apm(tmp_path, "install", ok=False)
