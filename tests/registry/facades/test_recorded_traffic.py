"""Each recorded request of a real client gets an answer with the keys and types of the recorded answer."""

from __future__ import annotations

import base64
import json
import re

import pytest
from django.test import Client

from tests.factories.skills import prompt_files, publish_files
from tests.registry.facades import recorded_exchanges as recorded
from tests.registry.facades import recorded_tools as tools
from tests.registry.facades.conftest import HOST, show
from tests.registry.facades.recorded_exchanges import Form, Raw, Unread
from tests.registry.facades.test_clawhub_login import approve

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
NAMES = re.compile(
    r"(?<=[/@])(pdf-tools|git-flow|my-skill-[\d-]+|new-skill|acme|nope|sk(ill|ver)_[\w-]+|[0-9a-f]{32}|\d+(\.\d+)*)(?=[@/.]|$)"
)
BLOCK = re.compile(r"^```(?:http)?\n((?:GET|POST|PUT|DELETE) .*?)\n```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def replay(team, alice, token_of, settings):
    """A site with the recorded skills, and a member of their team."""
    settings.SKILLQUAY_PUBLIC_URL = HOST
    for files in recorded.PUBLISHED:
        show(publish_files(files, team=team, user=alice))
    private = {"SKILL.md": prompt_files()["SKILL.md"].replace(b"kind-review", b"private-notes")}
    publish_files(private, team=team, user=alice)
    return Replay(token_of(alice)["Authorization"].removeprefix("Bearer "), alice)


class Replay:
    """Sends the requests of one client. Keeps the values that later requests contain."""

    def __init__(self, secret, user):
        self.secret, self.user, self.values = secret, user, {}

    def wrong_answers(self, exchanges):
        found = [(each, problem) for each in exchanges for problem in problems(each, *self.send(each))]
        return [f"{each.recorded} ({self.filled(each.path)}): {problem}" for each, problem in found]

    def filled(self, text):
        return re.sub(r"<(\w+)>", lambda name: self.values.get(name[1], name[0]), text)

    def send(self, exchange):
        if exchange.after == "approve":
            page = Client()
            page.force_login(self.user)
            approve(page, {"user_code": self.values["code"]}, team="docs")
        method = exchange.recorded.partition(" ")[0]
        headers = dict(exchange.headers or {"Accept": "application/json"})
        if exchange.token:
            is_git = "git" in headers.get("User-Agent", "")
            basic = "Basic " + base64.b64encode(f"u:{self.secret}".encode()).decode()
            headers["Authorization"] = basic if is_git else f"Bearer {self.secret}"
        data, kind = self.body(exchange.body)
        kind = headers.pop("Content-Type", kind)
        client = Client(enforce_csrf_checks=True)
        answer = client.generic(method, self.filled(exchange.path), data, kind, headers=headers)
        received = answer.getvalue()  # a stream can be read once
        text = received.decode(errors="replace")
        for name, pattern in exchange.saves.items():
            if found := re.search(pattern, text):
                self.values[name] = found[1]
        return answer, received

    def body(self, body):
        if body is None or isinstance(body, bytes):
            return self.filled((body or b"").decode("latin-1")).encode("latin-1"), ""
        if isinstance(body, Form):
            parts = [(name, value.encode()) for name, value in body.fields.items()]
            parts += [(f'{body.field}"; filename="{name}', data) for name, data in body.files.items()]
            head = '--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n'
            text = b"".join((head % name).encode() + data + b"\r\n" for name, data in parts) + b"--b--\r\n"
            return text, "multipart/form-data; boundary=b"
        return self.filled(json.dumps(body)), "application/json"


def mismatches(expected, found, place="$"):
    """Yields the places at which the answer lacks a key, or has a value of another type."""
    if expected is None or isinstance(expected, Unread):
        return
    if isinstance(expected, type):
        if not isinstance(found, expected) or isinstance(found, bool) != (expected is bool):
            yield f"{place} is no {expected.__name__}: {found!r}"
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, each in expected.items():
            if key in found:
                yield from mismatches(each, found[key], f"{place}.{key}")
            elif not isinstance(each, Unread):
                yield f"{place}.{key} is absent"
    elif isinstance(expected, list) and isinstance(found, list) and found:
        for number, each in enumerate(found):
            yield from mismatches(expected[0], each, f"{place}[{number}]")
    elif (expected, type(expected)) != (found, type(found)):
        yield f"{place} is {found!r}"


def problems(exchange, answer, data):
    expected_status = exchange.status or int(exchange.recorded.rpartition(" ")[2])
    if answer.status_code != expected_status:
        return [f"status {answer.status_code}: {data[:300]!r}"]
    if exchange.answer is None:
        return []
    if isinstance(exchange.answer, Raw):
        kind = answer.headers.get("Content-Type", "")
        fits = kind.startswith(exchange.answer.kind) and data.startswith(exchange.answer.start)
        return [] if fits else [f"{kind} {data[:80]!r}"]
    assert re.match(r"application/(problem\+)?json", answer["Content-Type"])
    return list(mismatches(exchange.answer, json.loads(data)))


def test_well_known_requests_get_the_recorded_answers(replay):
    assert replay.wrong_answers(recorded.WELL_KNOWN) == []


def test_clawhub_requests_get_the_recorded_answers(replay):
    assert replay.wrong_answers(recorded.CLAWHUB) == []


def test_git_requests_get_the_recorded_answers(replay):
    assert replay.wrong_answers(recorded.GIT) == []


def test_apm_requests_get_the_recorded_answers(replay):
    assert replay.wrong_answers(recorded.APM) == []


def test_mcp_requests_get_the_recorded_answers(replay):
    assert replay.wrong_answers(tools.MCP) == []


def test_requests_of_anthropic_sdk_get_the_recorded_answers(replay):
    assert replay.wrong_answers(tools.ANTHROPIC) == []


def test_requests_of_openai_sdk_get_the_recorded_answers(replay):
    assert replay.wrong_answers(tools.OPENAI) == []


def shapes(text):
    """The shape of each request in the recording: method, path, names in query and body, and status."""
    for block in BLOCK.findall(text):
        request, _, answer = block.partition("\n--> ")
        line, _, rest = request.partition("\n")
        method, address = line.split()[:2]
        path, _, query = address.partition("?")
        names = "&".join(sorted(part.partition("=")[0] for part in query.split("&") if part))
        head, _, after = rest.partition("\n\n")
        body = head if " {" in line else after
        if body.startswith("{"):
            fields = json.loads(body)
            body = " " + (fields["method"] if "jsonrpc" in fields else "{" + ",".join(sorted(fields)) + "}")
        else:
            parts = re.findall(r'form-data; name="(.*?)"', rest)
            body = f" form {','.join(dict.fromkeys(parts))}" if parts else ""
        yield f"{method} {NAMES.sub('*', path)}{f'?{names}' if names else ''}{body} {answer.split()[0]}"


def test_each_recorded_request_is_replayed(shared):
    text = (shared / "clients/traffic.md").read_text()
    found = list(shapes(text))
    assert len(found) == text.count("\n```") / 2 > 100
    tables = [recorded.WELL_KNOWN, recorded.CLAWHUB, recorded.GIT, recorded.APM]
    tables += [tools.MCP, tools.ANTHROPIC, tools.OPENAI]
    assert set(found) == {exchange.recorded for rows in tables for exchange in rows}
