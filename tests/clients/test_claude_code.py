"""Claude Code connects to the MCP server of a running site."""

from __future__ import annotations

import pytest

from tests.clients.node_clients import install

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs Claude Code")]


@pytest.mark.client("Claude Code 2.1.197", "mcp add", "mcp list")
def test_claude_code_adds_the_server_and_connects(site, tmp_path):
    claude = install("@anthropic-ai/claude-code@2.1.197", "cli-wrapper.cjs")
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    for token, state in ((site.token, "Connected"), ("sq_wrong", "Failed to connect")):
        header = f"Authorization: Bearer {token}"
        address = ("skillquay", f"{site.url}/mcp", "--header", header)
        home = tmp_path / state.partition(" ")[0]
        added = claude.run("mcp", "add", "--transport", "http", *address, home=home, **quiet)
        assert added.returncode == 0, added.stdout + added.stderr
        listed = claude.run("mcp", "list", home=home, **quiet)
        assert state in listed.stdout, listed.stdout + listed.stderr
