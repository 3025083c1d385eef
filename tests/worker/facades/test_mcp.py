"""MCP at ``/mcp``: the exchanges of real clients, tools, skills as resources, errors and access."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import mcp_types
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Visibility
from registry.packages.read_package import read_files
from registry.rates.limits import RateLimit
from registry.versions.lifecycle.rename import rename
from registry.versions.lifecycle.settings import set_visibility
from registry.versions.publishing.publish import publish
from worker.facades.mcp import kept_lists
from worker.facades.mcp.waits import WAIT_HEADER, RunWait
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "mcp", "version": "0.1.0"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/skills": {}}},
}
HEAD = "---\nname: pdf-tools\ndescription: Extract text from PDF files.\nmetadata:\n  level: 2\n---\n# pdf\n"
FILES = [("SKILL.md", HEAD.encode()), ("scripts/hello.py", b"print(1)\n"), ("data/x.bin", b"\xff\xfe")]
URI = "skill://docs/pdf-tools/SKILL.md"


@pytest.fixture
def pdf(team, alice):
    """A private skill of Alice's team."""
    return publish(read_files(FILES), team=team, actor=Actor(user=alice)).version


@pytest.fixture
def token_of():
    def make(user, *scopes):
        expiry = timezone.now() + timedelta(days=1)
        names = list(scopes or ("read", "run"))
        return tokens.issue(user, name="t", scopes=names, expires_at=expiry, by=Actor(user=user))[1]

    return make


@pytest.fixture
def as_alice(alice, token_of):
    return {"Authorization": f"Bearer {token_of(alice)}"}


def post(body, status=200, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body)
    answer = Client().post("/mcp", data, content_type="application/json", headers=headers)
    assert answer.status_code == status, answer.content
    return answer


def ask(method, headers=None, status=200, **params):
    """The answer to a request of protocol 2026-07-28."""
    named = params.get("uri") if method == "resources/read" else params.get("name")
    own = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **(headers or {})}
    own |= {"Mcp-Name": named} if named and method in ("resources/read", "tools/call") else {}
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": MODERN}}
    answer = post(message, status, **own)
    document = answer.json()
    assert document["id"] == 7
    if "result" in document:
        assert document["result"]["resultType"] == "complete"
        return document["result"]
    return document["error"]


def call(tool, headers=None, /, **arguments):
    return ask("tools/call", headers, name=tool, arguments=arguments)


def test_answers_have_the_shapes_of_the_recorded_exchanges(pdf, as_alice):
    discovered = mcp_types.DiscoverResult.model_validate(ask("server/discover", as_alice))
    assert discovered.supported_versions == ["2026-07-28"]
    listed = mcp_types.ListToolsResult.model_validate(ask("tools/list", as_alice))
    assert [tool.name for tool in listed.tools] == [
        *("skills_list", "skills_load", "skills_match", "skills_run", "run_status", "memory_search")
    ]
    assert all(tool.output_schema and tool.annotations for tool in listed.tools)
    found = ask("skills/list", as_alice)
    entry = next(each for each in found["skills"] if each["uri"] == URI)
    assert (found["ttlMs"], found["cacheScope"]) == (60_000, "private")
    assert entry["frontmatter"] == {
        "name": "pdf-tools",
        "description": "Extract text from PDF files.",
        "metadata": {"level": "2"},
    }
    assert {
        "uri": URI,
        "digest": "sha256:" + hashlib.sha256(HEAD.encode()).hexdigest(),
        "size": len(HEAD),
    } in (entry["resources"])
    assert len(entry["resources"]) == len(FILES)
    assert ask("skills/get", as_alice, uri=URI)["skill"] == entry
    old = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    result = post(old, **as_alice).json()["result"]
    assert mcp_types.InitializeResult.model_validate(result).protocol_version == "2025-06-18"
    assert "resultType" not in result
    accepted = post({"jsonrpc": "2.0", "method": "notifications/initialized"}, 202, **as_alice)
    assert accepted.content == b""


def test_resources_are_files_and_folders_of_visible_skills(pdf, as_alice, charlie, token_of):
    (text,) = ask("resources/read", as_alice, uri=URI)["contents"]
    assert text == {"uri": URI, "mimeType": "text/markdown", "text": HEAD}
    (blob,) = ask("resources/read", as_alice, uri="skill://docs/pdf-tools/data/x.bin")["contents"]
    assert blob["blob"] == "//4="
    rows = ask("resources/directory/read", as_alice, uri="skill://docs/pdf-tools")["resources"]
    assert [(row["name"], row["mimeType"]) for row in rows] == [
        ("data", "inode/directory"),
        ("scripts", "inode/directory"),
        ("pdf-tools", "text/markdown"),
    ]
    assert ask("resources/directory/read", as_alice, 400, uri=URI)["code"] == -32602
    assert URI in [row["uri"] for row in ask("resources/list", as_alice)["resources"]]
    charlies = {"X-Api-Key": token_of(charlie)}
    for headers in ({}, charlies):
        hidden = ask("skills/get", headers, 400, uri=URI)
        missing = ask("skills/get", headers, 400, uri=URI.replace("pdf", "xyz"))
        assert hidden["code"] == missing["code"] == -32602
        assert json.dumps(hidden).replace("pdf", "xyz") == json.dumps(missing)
        assert "pdf-tools" not in json.dumps(ask("skills/list", headers))
        assert call("skills_load", headers, name="pdf-tools")["isError"]
    set_visibility(pdf.skill, Visibility.PUBLIC, Actor(user=pdf.published_by))
    assert URI in [each["uri"] for each in ask("skills/list")["skills"]]


def test_loaded_skill_has_the_digests_that_hosts_verify(pdf, as_alice):
    loaded = call("skills_load", as_alice, name="pdf-tools")["structuredContent"]
    assert (loaded["content"], loaded["digest"]) == (HEAD, pdf.digest)
    files = {file["path"]: file for file in loaded["files"]}
    assert files["SKILL.md"]["digest"] == "sha256:" + hashlib.sha256(HEAD.encode()).hexdigest()
    assert files["SKILL.md"]["uri"] == URI
    script = call("skills_load", as_alice, name="docs/pdf-tools", path="scripts/hello.py")
    assert script["structuredContent"]["content"] == "print(1)\n"
    listed = call("skills_list", as_alice)["structuredContent"]["skills"]
    assert "pdf-tools" in [each["name"] for each in listed]
    matched = call("skills_match", as_alice, utterance="extract text from a PDF file")
    assert matched["structuredContent"]["results"][0]["skill"] == "docs/pdf-tools"


def test_run_starts_once_per_key_and_leaves_the_wait_to_the_event_loop(as_alice, hello):
    def start(**more):
        message = {"name": "skills_run", "arguments": {"skill": "docs/hello", "idempotency_key": "k", **more}}
        params = {**message, "_meta": {"progressToken": 3}}
        body = {"jsonrpc": "2.0", "id": "r1", "method": "tools/call", "params": params}
        return post(body, **as_alice, Accept="application/json, text/event-stream")

    first = start()
    result = first.json()["result"]
    run = Run.objects.get()
    assert (result["structuredContent"]["run_id"], result["isError"]) == (run.uid, False)
    assert result["structuredContent"]["status"] == run.status == "queued"
    wait = RunWait(**json.loads(first[WAIT_HEADER]))
    assert (wait.run, wait.for_approval, wait.seconds, wait.progress_token) == (run.uid, False, 45, 3)
    assert WAIT_HEADER not in start(wait=0)
    assert Run.objects.count() == 1
    reused = start(inputs={"who": "x"}).json()["result"]
    assert (reused["isError"], error_of(reused)["code"]) == (True, "IDEMPOTENCY_KEY_REUSED")

    Run.objects.update(status="failed", failure_code="TIMEOUT", message="Too slow.")
    follow_up = post(json.loads(wait.body), **as_alice)
    ended = follow_up.json()
    assert (ended["id"], ended["result"]["isError"]) == ("r1", True)
    assert ended["result"]["structuredContent"]["failure_code"] == "TIMEOUT"
    assert WAIT_HEADER not in follow_up


def test_approval_that_a_run_waits_for_is_named_with_its_page(publish_skill, as_alice, alice):
    publish_skill("asks", front="hooks:\n  Stop: []\n")
    message = {"name": "skills_run", "arguments": {"skill": "docs/asks"}}
    answer = post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message}, **as_alice)
    found = answer.json()["result"]["structuredContent"]
    run = Run.objects.get()
    assert (found["status"], run.status) == ("waiting_approval", "waiting_approval")
    assert found["approval"]["page_url"].endswith(f"/runs/{run.uid}/")
    assert WAIT_HEADER not in answer
    status = {"name": "run_status", "arguments": {"run_id": run.uid, "wait": 30}}
    again = post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": status}, **as_alice)
    assert RunWait(**json.loads(again[WAIT_HEADER])).for_approval


@pytest.mark.row("P2")
def test_tools_check_who_calls_them(hello, queue_run, as_alice, charlie, alice, token_of):
    run = queue_run(hello)
    assert error_of(call("skills_run", skill="docs/hello"))["code"] == "SIGN_IN_REQUIRED"
    assert error_of(call("memory_search", query="x"))["remedy"]
    reader = {"Authorization": f"Bearer {token_of(alice, 'read')}"}
    assert error_of(call("skills_run", reader, skill="docs/hello"))["code"] == "TOKEN_SCOPE_MISSING"
    runner = {"Authorization": f"Bearer {token_of(alice, 'run')}"}
    assert error_of(call("memory_search", runner, query="x"))["code"] == "TOKEN_SCOPE_MISSING"
    charlies = {"Authorization": f"Bearer {token_of(charlie)}"}
    assert error_of(call("run_status", charlies, run_id=run.uid))["code"] == "NOT_FOUND"
    assert error_of(call("skills_run", charlies, skill="docs/hello"))["code"] == "NOT_FOUND"
    assert call("run_status", as_alice, run_id=run.uid)["structuredContent"]["run_id"] == run.uid
    assert call("memory_search", as_alice, query="report")["structuredContent"] == {"memories": []}
    assert error_of(call("run_status", as_alice, run=run.uid))["problems"]
    post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, 401, Authorization="Bearer sq_wrong")


MALFORMED = [
    (b"{", 400, -32700),
    (b"\xff", 400, -32700),
    (b"", 400, -32600),
    (b'"ping"', 400, -32600),
    ({"id": 1, "method": "ping"}, 400, -32600),
    ({"jsonrpc": "2.0", "id": True, "method": "ping"}, 400, -32600),
    ({"jsonrpc": "2.0", "id": 1, "method": ["ping"]}, 400, -32600),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, 400, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}, 200, -32601),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}, 200, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": {"cursor": "x"}}, 200, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": URI}}, 200, -32002),
    ([], 400, -32600),
]


def test_malformed_requests_get_errors_of_the_protocol():
    for body, status, code in MALFORMED:
        assert post(body, status).json()["error"]["code"] == code, body


def test_versions_headers_batches_and_origins_are_checked():
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answers = post([message, {"jsonrpc": "2.0", "method": "x"}, {**message, "id": 2}]).json()
    assert [answer["id"] for answer in answers] == [1, 2]
    version = {"MCP-Protocol-Version": "2025-11-25"}
    assert post([message], 400, **version).json()["error"]["code"] == -32600
    unknown = post(message, 400, **{"MCP-Protocol-Version": "1999-01-01"}).json()["error"]
    assert (unknown["code"], unknown["data"]["requested"]) == (-32022, "1999-01-01")
    assert ask("ping", {"Mcp-Method": "tools/list"}, 400)["code"] == -32020
    assert ask("prompts/list", status=404)["code"] == -32601
    refused = post(message, 403, Origin="http://evil.example").json()["error"]
    assert refused["data"]["code"] == "ORIGIN_NOT_ALLOWED"
    for method in ("get", "delete"):
        answer = getattr(Client(), method)("/mcp")
        assert (answer.status_code, answer["Allow"]) == (405, "POST")


def error_of(result):
    assert result["isError"]
    return json.loads(result["content"][0]["text"])


@pytest.mark.django_db(transaction=True)
def test_kept_list_changes_with_the_skills(pdf, as_alice, alice, charlie, token_of, monkeypatch):
    monkeypatch.setattr(kept_lists, "_kept", {})

    charlies = {"Authorization": f"Bearer {token_of(charlie)}"}

    def listed(headers=as_alice):
        return [each["name"] for each in call("skills_list", headers)["structuredContent"]["skills"]]

    assert "pdf-tools" in listed()
    head = HEAD.replace("pdf-tools", "other-tools").encode()
    publish(read_files([("SKILL.md", head)]), team=pdf.skill.team, actor=Actor(user=alice))
    assert "other-tools" in listed()
    assert "other-tools" not in listed(charlies)
    with CaptureQueriesContext(connection) as queries:
        listed()
    assert len(queries) < 5


CLAUDE_CODE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {
        "name": "claude-code",
        "title": "Claude Code",
        "version": "2.1.329",
    },
    "io.modelcontextprotocol/clientCapabilities": {
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
    },
}
FASTMCP = {**MODERN, "io.modelcontextprotocol/logLevel": "debug", "progressToken": 3}
RECORDED: list[
    tuple[Any, ...]
] = [  # client, id, method, parameters, name in the header, and a field of the result
    (MODERN, 1, "server/discover", {}, None, "supportedVersions"),
    (FASTMCP, 2, "tools/list", {}, None, "tools"),
    (
        FASTMCP,
        3,
        "tools/call",
        {"name": "skills_load", "arguments": {"name": "pdf-tools"}},
        "skills_load",
        "content",
    ),
    (FASTMCP, 4, "skills/list", {}, None, "skills"),
    (FASTMCP, 5, "skills/get", {"uri": "skill://docs/pdf-tools/SKILL.md"}, None, "skill"),
    (
        FASTMCP,
        6,
        "resources/read",
        {"uri": "skill://docs/pdf-tools/scripts/hello.py"},
        "skill://docs/pdf-tools/scripts/hello.py",
        "contents",
    ),
    (CLAUDE_CODE, "server-discover-probe-1", "server/discover", {}, None, "capabilities"),
    (CLAUDE_CODE, 0, "tools/list", {}, None, "tools"),
]


def test_recorded_requests_of_clients_are_answered(pdf, as_alice):
    accepts = {"Accept": "application/json, text/event-stream", "Accept-Encoding": "identity"}
    for meta, call_id, method, params, name, field in RECORDED:
        headers = {**accepts, **as_alice, "mcp-protocol-version": "2026-07-28", "mcp-method": method}
        headers |= {"mcp-name": name} if name else {}
        body = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": {**params, "_meta": meta}}
        answer = post(body, **headers).json()
        assert answer["id"] == call_id
        assert field in answer["result"], method


def test_canonical_renamed_and_hidden_skills(pdf, root, team, alice, as_alice, settings):
    set_visibility(pdf.skill, Visibility.SITE, Actor(user=alice))
    pdf.skill.refresh_from_db()
    set_canonical("pdf-tools", pdf, root, reason="Best one.")
    rename(pdf.skill, root, slug="reader")
    for base in ("canonical/pdf-tools", "docs/reader/pdf-tools"):
        (content,) = ask("resources/read", as_alice, uri=f"skill://{base}/scripts/hello.py")["contents"]
        assert content["text"] == "print(1)\n"
    wrong = "skill://docs/reader/scripts/hello.py"
    assert ask("resources/read", as_alice, 400, uri=wrong)["code"] == -32602
    hidden = HEAD.replace("pdf-tools", "by-hand").replace(
        "metadata:", "disable-model-invocation: true\nmetadata:"
    )
    publish(read_files([("SKILL.md", hidden.encode())]), team=team, actor=Actor(user=alice))
    uris = [each["uri"] for each in ask("skills/list", as_alice)["skills"]]
    assert "skill://docs/reader/pdf-tools/SKILL.md" in uris
    assert not any("by-hand" in uri for uri in uris)
    assert ask("skills/get", as_alice, 400, uri="skill://docs/by-hand/SKILL.md")["code"] == -32602
    settings.SKILLQUAY_RATE_LIMITS = {**settings.SKILLQUAY_RATE_LIMITS, RateLimit.MATCH: 1}
    assert not call("skills_match", as_alice, utterance="x")["isError"]
    assert error_of(call("skills_match", as_alice, utterance="x"))["code"] == "RATE_LIMITED"
