"""git itself clones and pulls public and private skills from a running site."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs git")]


class Git:
    """git with a home folder of its own, and the token in its .netrc."""

    def __init__(self, home, token=""):
        self.home = home
        if shutil.which("git") is None:
            pytest.skip("git is not installed")
        if token:
            (home / ".netrc").write_text(f"machine 127.0.0.1 login token password {token}\n")
            (home / ".netrc").chmod(0o600)

    def __call__(self, *arguments, cwd=None, ok=True):
        environment = {**os.environ, "HOME": str(self.home), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode == 0) is ok, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def skill(site):
    """The address of a private skill with two versions."""
    site.publish("from-git", "print('one')", team="docs")
    assert site.upload("from-git", "print('two')", team="docs", number="1.1.0")[0] == 201
    return f"{site.url}/docs/from-git.git"


@pytest.mark.client("git", "clone", "clone --depth", "clone --branch", "pull", "fetch --unshallow", "fsck")
def test_git_clones_pulls_and_verifies_a_private_skill(site, skill, tmp_path):
    git = Git(tmp_path, site.token)
    git("clone", "-q", skill, "whole")
    git("clone", "-q", "--depth", "1", skill, "shallow")
    git("clone", "-q", "--branch", "v1.0.0", skill, "tagged")
    script = "scripts/from-git.py"
    whole, shallow = tmp_path / "whole", tmp_path / "shallow"
    assert (whole / script).read_text() == (shallow / script).read_text() == "print('two')"
    assert (tmp_path / "tagged" / script).read_text() == "print('one')"
    assert git("tag", cwd=whole).split() == ["v1.0.0", "v1.1.0"]
    assert git("rev-list", "--count", "HEAD", cwd=shallow).strip() == "1"

    assert site.upload("from-git", "print('three')", team="docs", number="1.2.0")[0] == 201
    for folder in (whole, shallow):
        git("pull", "-q", "--ff-only", cwd=folder)
        assert (folder / script).read_text() == "print('three')"
    git("fetch", "-q", "--unshallow", "--tags", cwd=shallow)
    for folder in (whole, shallow):
        assert git("rev-list", "--count", "HEAD", cwd=folder).strip() == "3"
        git("fsck", "--strict", cwd=folder)
        assert "v1.2.0" in git("tag", cwd=folder)
    header = f"http.extraHeader=Authorization: Bearer {site.token}"
    git("-c", header, "-c", "protocol.version=0", "clone", "-q", skill, "by-header")


@pytest.mark.client("git", "clone all skills")
def test_git_clones_and_pulls_a_marketplace(site, skill, tmp_path):
    git = Git(tmp_path, site.token)
    git("clone", "-q", "--depth", "1", f"{site.url}/docs/all.private.git", "market")
    market = tmp_path / "market"
    before = json.loads((market / ".claude-plugin/marketplace.json").read_text())
    assert "from-git" in [row["name"] for row in before["plugins"]]
    site.publish("later", "print('later')", team="docs")
    git("pull", "-q", "--ff-only", cwd=market)
    assert (market / "plugins/later/skills/later/SKILL.md").exists()
    git("fsck", "--strict", cwd=market)


@pytest.mark.client("git", "private skill stays hidden")
@pytest.mark.row("P2")
def test_git_without_a_token_learns_nothing_of_a_private_skill(site, skill, tmp_path):
    git = Git(tmp_path)
    hidden = git("clone", skill, ok=False)
    missing = git("clone", skill.replace("from-git", "from-none"), ok=False)
    assert hidden.replace("from-git", "from-none") == missing
    git("clone", "-q", f"{site.url}/all.git", "market")
    assert not list((tmp_path / "market").rglob("*from-git*"))


@pytest.mark.client("git", "push is refused")
def test_git_cannot_push(site, skill, tmp_path):
    git = Git(tmp_path, site.token)
    git("clone", "-q", skill, "work")
    git("push", skill, "HEAD:refs/heads/other", cwd=tmp_path / "work", ok=False)
