"""The prompts of an MCP server as skills, from the SDK's own server in a process of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time

import pytest

from registry.identity.actors import ANONYMOUS
from registry.imports.candidates import ReadProgress, SkillCandidate
from registry.imports.readers import mcp
from registry.models import Source
from registry.packages.problems import Refusal
from registry.packages.read_package import read_files
from tests.checks import not_none
from tests.conftest import ROOT

pytestmark = [pytest.mark.row("D2"), pytest.mark.django_db]


@contextlib.contextmanager
def _running():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    words = [sys.executable, "-W", "ignore", "-m", "tests.servers.mcp", str(port)]
    child = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert child.poll() is None, "the server ended"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        child.terminate()
        child.wait()


def _source(team, location):
    return Source.objects.create(team=team, kind="mcp", location=mcp.check(location, {}, ANONYMOUS)[0])


def test_each_prompt_of_a_real_server_is_a_skill(team, settings, tmp_path):
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    with _running() as url:
        reading = mcp.read(_source(team, f"mcp+{url}"), ANONYMOUS, tmp_path, ReadProgress())
    found = {each.path: each for each in reading.items if isinstance(each, SkillCandidate)}
    assert set(found) == {"review_change", "greet"}
    review = found["review_change"]
    assert review.source == "mcp"
    assert review.provenance == {"server": url, "prompt": "review_change"}
    package = read_files(
        [(entry.path, not_none(entry.data)) for entry in review.read()], filename=review.name
    )
    assert package.ok
    manifest = package.manifest
    assert (manifest.slug, manifest.display_name) == ("review-change", "Review a change")
    assert manifest.arguments == ("language", "focus")
    assert manifest.argument_hint == "[language] [focus]"
    assert package.body.strip() == "Review this $language change. Look at $focus.\nNever run !`rm -rf /`."


def _serve(server, **results):
    """A server of few words: a method's name with ``_`` for ``/`` → its result."""

    def answer(handler):
        said = json.loads(handler.recorded.body)
        if "id" not in said:
            return handler.send(202)
        result = results.get(said["method"].replace("/", "_"), {})
        result = result(said["params"]) if callable(result) else result
        whole = {"jsonrpc": "2.0", "id": said["id"], **(result if "error" in result else {"result": result})}
        return handler.send(200, json.dumps(whole).encode(), content_type="application/json")

    server.responders["/mcp"] = answer
    return f"{server.url}/mcp"


def _get(params):
    return {"messages": [{"role": "user", "content": {"type": "text", "text": f"I am {params['name']}."}}]}


def test_pages_of_prompts_are_followed(server, team, tmp_path):
    pages = {
        None: {"prompts": [{"name": "one"}], "nextCursor": "more"},
        "more": {"prompts": [{"name": "two"}]},
    }
    url = _serve(server, prompts_list=lambda params: pages[params.get("cursor")], prompts_get=_get)
    reading = mcp.read(_source(team, url), ANONYMOUS, tmp_path, ReadProgress())
    assert [each.path for each in reading.items] == ["one", "two"]
    again = mcp.read(_source(team, url), ANONYMOUS, tmp_path, ReadProgress())
    assert again.state == reading.state


def test_who_speaks_and_what_is_no_text_is_said(server, team, tmp_path):
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Look."}},
        {"role": "assistant", "content": {"type": "image", "data": "AAAA"}},
        {"role": "user", "content": {"type": "resource", "resource": {"text": "The file."}}},
    ]
    listed = {"prompts": [{"name": "a", "arguments": [{"name": "the file"}, {"name": "x"}]}]}
    url = _serve(server, prompts_list=listed, prompts_get={"messages": messages})
    (found,) = mcp.read(_source(team, url), ANONYMOUS, tmp_path, ReadProgress()).items
    assert isinstance(found, SkillCandidate)
    text = not_none(found.read()[0].data).decode()
    assert text.endswith("**user:** Look.\n\n**assistant:** (image without text)\n\n**user:** The file.\n")
    asked = [json.loads(request.body) for request in server.requests]
    placed = next(each for each in asked if each["method"] == "prompts/get")["params"]["arguments"]
    assert placed == {"the file": "$ARGUMENTS[0]", "x": "$ARGUMENTS[1]"}


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ({"initialize": {"error": {"code": -1, "message": "no\0"}}}, "MCP_REFUSED"),
        ({"prompts_list": {"error": {"code": -32601, "message": "Method not found"}}}, "MCP_REFUSED"),
        ({"prompts_list": {"prompts": [{}]}}, "MCP_REFUSED"),
        ({"prompts_list": {"prompts": ["a"]}}, "SOURCE_ANSWER"),
        ({"prompts_list": {"prompts": [{"name": "a"}], "nextCursor": "for ever"}}, "SOURCE_TOO_LARGE"),
    ],
)
def test_what_a_server_says_wrongly_is_refused(server, team, tmp_path, results, code):
    url = _serve(server, prompts_get=_get, **results)
    with pytest.raises(Refusal) as caught:
        mcp.read(_source(team, url), ANONYMOUS, tmp_path, ReadProgress())
    assert caught.value.code == code


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b"[" * 100_000, b""])
def test_what_is_no_mcp_is_said(server, team, tmp_path, body):
    server.responders["/mcp"] = lambda h: h.send(200, body, content_type="application/json")
    with pytest.raises(Refusal) as caught:
        mcp.read(_source(team, f"{server.url}/mcp"), ANONYMOUS, tmp_path, ReadProgress())
    assert caught.value.code == "SOURCE_ANSWER"


def test_a_token_goes_to_its_own_server(server, team, tmp_path, settings):
    url = _serve(server, prompts_list={"prompts": []})
    settings.SKILLQUAY_SOURCES = {"desk": {"endpoint": server.url, "token": "secret", "teams": "*"}}
    source = _source(team, url)
    source.options = {"credentials": "desk"}
    mcp.read(source, ANONYMOUS, tmp_path, ReadProgress())
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer secret"}
