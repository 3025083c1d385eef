"""Real clients install private skills through install links, and from collections."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.clients.node_clients import NODE_22, install
from tests.clients.test_git import Git

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs clients from npm")]
COLLECTION = {"team": "docs", "slug": "start", "skills": [{"skill": "docs/linked"}]}


@pytest.fixture(scope="module")
def link(site):
    """``link(target)``: the address of a new install link."""
    site.publish("linked", "print('one')", team="docs")
    made = site.ask(
        "/api/v1/collections", body=json.dumps(COLLECTION).encode(), Content_Type="application/json"
    )
    assert made[0] == 201, made

    def make(target):
        body = json.dumps({"target": target, "days": 1}).encode()
        status, _, data = site.ask("/api/v1/install-links", body=body, Content_Type="application/json")
        assert status == 201, data
        return json.loads(data)["address"]

    return make


@pytest.mark.client("git", "install link")
def test_git_clones_a_private_skill_and_a_collection_without_a_token(link, tmp_path):
    git = Git(tmp_path)
    git("clone", "-q", f"{link('docs/linked')}.git", "skill")
    assert (tmp_path / "skill/scripts/linked.py").read_text() == "print('one')"
    git("clone", "-q", f"{link('collections/docs/start')}.git", "all")
    assert (tmp_path / "all/plugins/linked/skills/linked/SKILL.md").exists()
    git("fsck", cwd=tmp_path / "all")


@pytest.mark.client("skills {version}", "install link")
@pytest.mark.parametrize(("version", "needs"), [("1.5.18", ""), ("1.7.4", NODE_22)])
@pytest.mark.parametrize("target", ["docs/linked", "collections/docs/start"])
def test_npx_skills_installs_private_skills_without_a_token(link, tmp_path, version, needs, target):
    client = install(f"skills@{version}", "bin/cli.mjs", needs=needs)
    done = client.run("add", link(target), "-y", "-a", "claude-code", home=tmp_path)
    assert "Installed 1 skill" in done.stdout, done.stdout + done.stderr
    folder = tmp_path / "project/.claude/skills/linked"
    assert (folder / "scripts/linked.py").read_text() == "print('one')"


@pytest.mark.client("openskills 1.5.0", "install", "list", "read", "sync")
def test_openskills_installs_lists_and_reads_a_private_skill(site, link, tmp_path):
    client = install("openskills@1.5.0", "dist/cli.js")
    done = client.run("install", f"{link('docs/linked')}.git", "-y", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "linked" in client.run("list", home=tmp_path).stdout
    assert "# linked" in client.run("read", "linked", home=tmp_path).stdout
    synced = client.run("sync", "-y", home=tmp_path)
    assert synced.returncode == 0, synced.stdout + synced.stderr
    assert "linked" in (tmp_path / "project/AGENTS.md").read_text()


@pytest.mark.client("Gemini CLI 0.61.0", "skills install")
def test_gemini_cli_installs_a_private_skill(site, link, tmp_path):
    client = install("@google/gemini-cli@0.61.0", "bundle/gemini.js", needs=NODE_22)
    Git(tmp_path, site.token)  # writes the token to .netrc
    done = client.run("skills", "install", f"{site.url}/docs/linked.git", "--consent", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = list(tmp_path.rglob("skills/linked/scripts/linked.py"))
    assert [path.read_text() for path in found] == ["print('one')"]


@pytest.mark.client("Claude Code 2.1.197", "install link")
def test_claude_code_installs_from_a_collection_without_a_token(link, tmp_path):
    client = install("@anthropic-ai/claude-code@2.1.197", "bin/claude.exe")
    quiet = {"HOME": str(tmp_path), "CI": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    address = f"{link('collections/docs/start')}.git"
    for arguments in (("marketplace", "add", address), ("install", "linked@docs-start")):
        done = subprocess.run(
            [client.program, "plugin", *arguments],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", **quiet},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=90,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    found = tmp_path.rglob("plugins/cache/docs-start/linked/*/skills/linked/scripts/linked.py")
    assert [path.read_text() for path in found] == ["print('one')"]
