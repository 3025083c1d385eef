"""Example by example: the API, the command and the page give the answer that the tries say."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from functools import cache
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.packages.read_package import read_folder
from registry.versions.publishing.publish import publish
from tests.examples.tries import EXAMPLES, tries
from worker.models import Run
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [
    pytest.mark.matrix(at_most=15, full_at_most=50),
    pytest.mark.django_db,
    pytest.mark.row("A1", "A2", "A3", "A5", "B1", "B2", "B3", "B8", "C5", "C8", "C10", "C11", "P5", "P11"),
]
ALL = [one for one in tries() if one.expect.get("protocol") != "fork"]  # a loop wants a model: test_fork.py
# A page never offers what cannot start; standard input, context and foreign scripts are the API's alone.
PROMPTS = {one.slug for one in ALL if "text" in one.expect}
ON_PAGES = [one for one in ALL if "refused" not in one.expect and not one.request.context]
IN_SHELLS = [one for one in ALL if not one.request.context]


@cache
def _package(slug):
    return read_folder(EXAMPLES / slug)


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def published(team, alice):
    return lambda slug: publish(_package(slug), team=team, actor=Actor(user=alice)).version


def _asked(one):
    request = one.request
    chosen = {key: getattr(request, key) for key in ("script", "action", "tool", "stdin", "debug")}
    return {key: value for key, value in chosen.items() if value}


def _use_form(version, inputs):
    names = version.manifest.get("arguments") or []
    filled = {f"argument-{number}": inputs.get(name, "") for number, name in enumerate(names)}
    return {"version": version.number, "run": "1", **filled}


def _check(document, one, user_id):
    assert one.expect.get("text", "") in str(document["output"])
    expect = one.expect
    assert document["failure_code"] == expect.get("code", ""), document
    assert document["status"] == ("failed" if expect.get("code") else "succeeded")
    assert document["success"] is not bool(expect.get("code"))
    for name in ("output", "outputs", "message"):
        assert name not in expect or document[name] == expect[name]
    for name in ("stdout", "stderr"):
        assert expect.get(name, "") in document[name]
    if "artifacts" in expect:
        assert [artifact["path"] for artifact in document["artifacts"]] == expect["artifacts"]
    steps = [step["name"] for step in document["steps"] if step["kind"] == "skill"]
    assert "steps" not in expect or steps == [step["name"] for step in expect["steps"]]
    assert next(step["name"] for step in document["steps"] if step["kind"] == "platform") == "unpack"
    if "memory_writes" in expect:
        owners = [write["ownerId"].format(user_id=user_id) for write in expect["memory_writes"]]
        assert [write["ownerId"] for write in document["memory_writes"]] == owners


def _user_id(run):
    return run.request["context"]["user_id"]


@pytest.mark.parametrize("one", ALL, ids=str)
def test_the_api_answers_as_the_try_says(one, alice, published):
    version = published(one.slug)
    until = timezone.now() + timedelta(hours=1)
    secret = tokens.issue(alice, name="t", scopes=["run"], expires_at=until, by=Actor(user=alice))[1]
    bearer = {"Authorization": f"Bearer {secret}"}
    body = {"skill": str(version.skill), "inputs": dict(one.request.inputs), **_asked(one)}
    if one.request.context:
        body["context"] = dict(one.request.context)
    answer = Client().post("/api/v1/runs", json.dumps(body), "application/json", headers=bearer)
    if code := one.expect.get("refused"):
        assert (answer.status_code // 100, answer.json()["code"]) == (4, code)
        assert Run.objects.count() == 0
        return
    assert answer.status_code == 202, answer.content
    if answer.json()["status"] == "waiting_approval":  # it wants a person's leave, whom a token is not
        person = Client()
        person.force_login(alice)
        leave = {"decision": "once"}
        person.post(f"/api/v1/runs/{answer.json()['id']}/approval", leave, content_type="application/json")
    run = execute_here(Run.objects.get(uid=answer.json()["id"]))
    document = Client().get(f"/api/v1/runs/{run.uid}", headers=bearer).json()
    _check(document, one, _user_id(run))
    for artifact in document["artifacts"]:
        path = f"/api/v1/runs/{run.uid}/artifacts/{artifact['path']}"
        assert len(b"".join(Client().get(path, headers=bearer))) == artifact["size"]


@pytest.mark.parametrize("one", IN_SHELLS, ids=str)
def test_the_command_answers_as_the_try_says(one, alice, published, administrator):
    version = published(one.slug)
    out = StringIO()
    words = ["--input", json.dumps(one.request.inputs)]
    for key, value in _asked(one).items():
        words += [f"--{key}"] if value is True else [f"--{key}", value]
    try:
        call_command("run_skill", str(version.skill), *words, "--here", "--json", stdout=out)
        status: int | None = 0
    except (CommandError, SystemExit) as ended:
        status = getattr(ended, "returncode", None) or getattr(ended, "code", None)
    document = json.loads(out.getvalue())
    assert status == (1 if one.expect.get("code") or "refused" in one.expect else 0)
    if code := one.expect.get("refused"):
        assert (document["status"], document["failure_code"]) == ("refused", code)
        return
    _check(document, one, _user_id(Run.objects.get(uid=document["id"])))


@pytest.mark.parametrize("one", ON_PAGES, ids=str)
def test_the_page_answers_as_the_try_says(one, client, alice, published):
    version = published(one.slug)
    client.force_login(alice)
    if published_prompt := version.skill.slug in PROMPTS:
        address, form = f"/skills/{version.skill}/use/", _use_form(version, one.request.inputs)
    else:
        address = f"/skills/{version.skill}/run/"
        form = {
            "format": "json",
            "version": version.number,
            "inputs_json": json.dumps(dict(one.request.inputs)),
        }
    asked = {key: "on" if value is True else value for key, value in _asked(one).items()}
    assert published_prompt or client.get(address, {"format": "json"}).status_code == 200
    sent = client.post(address, {**form, **asked})
    assert sent.status_code == 302, re.findall(r'class="error[^>]*>([^<]*)', sent.content.decode())
    run = execute_here(Run.objects.get())
    _check(run_document(run, actor=Actor(user=alice)), one, _user_id(run))
    page = client.get(sent["Location"]).content.decode()
    assert one.expect.get("code") or "Succeeded" in page
    assert one.expect.get("code", "") in page
    for path in one.expect.get("artifacts", []):
        assert path in page


@pytest.mark.parametrize("slug", sorted({one.slug for one in ALL if "refused" in one.expect}))
def test_a_page_of_what_cannot_start_still_has_something_to_press(slug, client, alice, published):
    version = published(slug)
    client.force_login(alice)
    page = client.get(f"/skills/{version.skill}/run/", follow=True)
    assert page.status_code == 200
    assert "<form" in page.content.decode() or "/files/" in page.content.decode()
