"""npm itself installs public and private skills from a running site."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs npm")]


class Npm:
    """npm in a project whose scope ``@docs`` is the site."""

    def __init__(self, site, folder, *, token):
        self.folder = folder
        self.program = shutil.which("npm")
        if self.program is None:
            pytest.skip("npm is not installed")
        address = f"{site.url.removeprefix('http:')}/npm/"
        lines = [
            f"@docs:registry={site.url}/npm/",
            f"registry={site.url}/npm/",
            "fund=false",
            "fetch-retries=0",
        ]
        lines += [f"{address}:_authToken={site.token}"] if token else []
        (folder / ".npmrc").write_text("\n".join(lines) + "\n")
        (folder / "package.json").write_text('{"name": "project", "version": "1.0.0"}')

    def __call__(self, *arguments, ok=True):
        environment = {**os.environ, "HOME": str(self.folder), "NO_COLOR": "1"}
        environment["npm_config_cache"] = str(self.folder / "cache")
        done = subprocess.run(
            [str(self.program), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=90,
        )
        assert (done.returncode == 0) is ok, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def skill(site):
    """A private skill."""
    site.publish("from-npm", "print('one')", team="docs")
    return "@docs/from-npm"


@pytest.mark.client("npm", "whoami", "view", "install", "outdated", "update", "ci")
def test_npm_installs_updates_and_restores_a_private_skill(site, skill, tmp_path):
    npm = Npm(site, tmp_path, token=True)
    assert "admin" in npm("whoami")
    assert json.loads(npm("view", skill, "--json"))["version"] == "1.0.0"
    npm("install", f"{skill}@^1.0.0")
    script = tmp_path / "node_modules" / skill / "scripts/from-npm.py"
    assert script.read_text() == "print('one')"
    assert (script.parent.parent / "SKILL.md").exists()

    assert site.upload("from-npm", "print('two')", team="docs", number="1.1.0")[0] == 201
    text = npm("outdated", "--json", ok=False)
    assert json.loads(text[text.index("{") : text.rindex("}") + 1])[skill]["latest"] == "1.1.0"
    npm("update")
    assert script.read_text() == "print('two')"

    shutil.rmtree(tmp_path / "node_modules")
    npm("ci")
    assert script.read_text() == "print('two')"


@pytest.mark.client("npm", "wrong byte fails")
def test_wrong_byte_fails_npm_ci(site, skill, tmp_path):
    npm = Npm(site, tmp_path, token=True)
    npm("install", f"{skill}@1.0.0")
    lock = tmp_path / "package-lock.json"
    text = lock.read_text()
    digest = json.loads(text)["packages"][f"node_modules/{skill}"]["integrity"]
    other = digest[:10] + ("A" if digest[10] != "A" else "B") + digest[11:]
    lock.write_text(text.replace(digest, other))
    shutil.rmtree(tmp_path / "node_modules")
    assert "EINTEGRITY" in npm("ci", ok=False)


@pytest.mark.client("npm", "search", "private skill stays hidden")
@pytest.mark.row("P2")
def test_npm_without_a_token_learns_nothing_of_a_private_skill(site, skill, tmp_path):
    npm = Npm(site, tmp_path, token=False)
    assert "E404" in npm("view", skill, ok=False)
    assert "E404" in npm("install", skill, ok=False)
    assert "from-npm" not in npm("search", "tests", "--json")
