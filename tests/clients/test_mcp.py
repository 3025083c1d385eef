"""The ``mcp`` package and the official conformance suite against a running site."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import subprocess
import sys

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.node_clients import NODE_22, install
from tests.site import ROOT

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("runs MCP clients")]
HOWTO = ROOT / "docs/howto/connect-mcp-hosts.md"
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
SCENARIOS = ("enumeration", "manifest", "directory")
SCRIPT = """import json, sys, time
print("40% complete", file=sys.stderr, flush=True)
time.sleep(1)
print(json.dumps({"answer": 42}))
"""


@contextlib.asynccontextmanager
async def connected(site, *, token=True, mode="auto"):
    headers = {"Authorization": f"Bearer {site.token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{site.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def skill(site, change):
    """A public skill with a folder, and a private one."""
    site.publish("mcp-run", SCRIPT, team="docs")
    change("skills/docs/mcp-run", visibility="public")
    site.publish("mcp-hidden", "print('secret')", team="docs")
    return "docs/mcp-run"


@pytest.mark.client("mcp 2.3.0", "list tools", "list skills", "load a skill", "check digests", "run a skill")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_client_lists_loads_verifies_and_runs_a_skill(site, skill, mode):
    async def work():
        progress = []

        async def on_progress(value, total, message):
            progress.append((value, message))

        async with connected(site, mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert {"skills_list", "skills_run"} < {tool.name for tool in tools}
            listed = await client.call_tool("skills_list", {})
            assert skill.partition("/")[2] in [row["name"] for row in listed.structured_content["skills"]]
            loaded = await client.call_tool("skills_load", {"name": skill})
            for file in loaded.structured_content["files"]:
                (content,) = (await client.read_resource(file["uri"])).contents
                digest = hashlib.sha256(content.text.encode()).hexdigest()
                assert file["digest"] == f"sha256:{digest}"
            run = await client.call_tool(
                "skills_run", {"skill": skill}, progress_callback=on_progress if mode == "auto" else None
            )
            assert (run.is_error, run.structured_content["status"]) == (False, "succeeded"), run
            assert run.structured_content["outputs"] == {"answer": 42}
        return progress

    progress = asyncio.run(work())
    if mode == "auto":
        values = [value for value, _ in progress]
        assert max(values) >= 40
        assert values == sorted(set(values))


@pytest.mark.client("mcp 2.3.0", "program of the guide")
def test_program_of_the_guide_works_as_written(site, skill):
    program = "\n".join(re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.S))
    environment = {**os.environ, "SITE": site.url, "TOKEN": site.token}
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-3000:]
    assert skill.partition("/")[2] in done.stdout


@pytest.mark.client("mcp 2.3.0", "private skill stays hidden")
@pytest.mark.row("P2")
def test_client_without_a_token_learns_nothing_of_a_private_skill(site, skill):
    async def work():
        async with connected(site, token=False) as client:
            found = await client.call_tool("skills_load", {"name": "docs/mcp-hidden"})
            assert found.is_error
            texts = [found.model_dump_json()]
            texts.append((await client.call_tool("skills_match", {"utterance": "hidden"})).model_dump_json())
            texts.append((await client.list_resources()).model_dump_json())
            return texts

    texts = asyncio.run(work())
    assert "skill://docs/mcp-run/SKILL.md" in texts[-1]
    assert "secret" not in "".join(texts)
    assert "mcp-hidden" not in "".join(texts[1:])


@pytest.mark.client("MCP conformance suite", "skills scenarios")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_official_conformance_suite_passes(site, skill, tmp_path, scenario):
    suite = install(SUITE, "dist/index.js", needs=NODE_22)
    named = f"sep-2640-skills-{scenario}"
    done = suite.run("server", "--url", f"{site.url}/mcp", "--scenario", named, "--verbose", home=tmp_path)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
