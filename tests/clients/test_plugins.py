"""Claude Code and Codex install and update skills from the marketplaces of a running site."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clients.node_clients import install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("installs clients from npm")]


class Agent:
    """A client with a home folder of its own, and the token in its .netrc."""

    def __init__(self, package, program, home, token):
        found = install(package, program)
        self.argv = [*([] if program.endswith(".exe") else [str(found.interpreter)]), str(found.program)]
        self.home = home
        (home / ".netrc").write_text(f"machine 127.0.0.1 login token password {token}\n")
        (home / ".netrc").chmod(0o600)

    def __call__(self, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "GIT_TERMINAL_PROMPT": "0"}
        environment |= {"CI": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        done = subprocess.run(
            [*self.argv, "plugin", *arguments],
            cwd=self.home,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=90,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def installed(self, slug):
        """The scripts of the skill in the client's cache of plugins, the newest version last."""
        found = Path(self.home).rglob(f"plugins/cache/docs/{slug}/*/skills/{slug}/scripts/{slug}.py")
        return [path.read_text() for path in sorted(found)]


@pytest.mark.client(
    "Claude Code 2.1.197",
    "plugin marketplace add",
    "plugin marketplace update",
    "plugin install",
    "plugin update",
)
@pytest.mark.parametrize("source", ["all.private.git", "marketplace.json"])
def test_claude_code_installs_and_updates_a_private_skill(site, tmp_path, source):
    claude = Agent("@anthropic-ai/claude-code@2.1.197", "bin/claude.exe", tmp_path, site.token)
    slug = f"claude-{source.partition('.')[0]}"
    site.publish(slug, "print('one')", team="docs")
    address = f"{site.url}/docs/{source}"
    if source.endswith(".json"):  # read without a token, so that it lists public skills only
        site.manage("shell", "--no-imports", "-c", PUBLIC.format(slug))
    claude("marketplace", "add", address)
    claude("install", f"{slug}@docs")
    assert claude.installed(slug) == ["print('one')"]
    assert site.upload(slug, "print('two')", team="docs", number="1.1.0")[0] == 201
    if source.endswith(".json"):
        site.manage("shell", "--no-imports", "-c", PUBLIC.format(slug))
    claude("marketplace", "update", "docs")
    claude("update", f"{slug}@docs")
    assert claude.installed(slug)[-1] == "print('two')"


PUBLIC = """
from registry.identity.actors import Actor
from registry.models import Skill, User
from registry.versions.lifecycle.settings import set_visibility
set_visibility(Skill.objects.get(slug={!r}), "public", Actor(user=User.objects.get(username="admin")))
"""


@pytest.mark.client("Codex 0.169.0", "plugin marketplace add", "plugin marketplace upgrade", "plugin add")
def test_codex_installs_and_upgrades_a_private_skill(site, tmp_path):
    codex = Agent("@openai/codex@0.169.0", "bin/codex.js", tmp_path, site.token)
    site.publish("upgraded", "print('one')", team="docs")
    codex("marketplace", "add", f"{site.url}/docs/all.private.git")
    codex("add", "upgraded@docs")
    assert codex.installed("upgraded") == ["print('one')"]
    assert site.upload("upgraded", "print('two')", team="docs", number="1.1.0")[0] == 201
    codex("marketplace", "upgrade", "docs")
    assert codex.installed("upgraded")[-1] == "print('two')"
