"""The access log and lines of JSON."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.urls import get_resolver
from django.urls.resolvers import RoutePattern, URLPattern

from portal.streaming.access_log import SECRET_ROOTS, AccessLog, logged_path
from portal.supervisor import Supervisor
from registry import log_context
from registry.log_context import ContextFilter, JsonLineFormatter, LineFormatter
from tests.event_loops import run_in_loop

pytestmark = pytest.mark.row("P9")


@pytest.fixture
def lines():
    """What the root logger writes, as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLineFormatter())
    handler.addFilter(ContextFilter())
    logger = logging.getLogger("skillquay")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(level)


async def _app(scope, receive, send):
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"abc", "more_body": True})
    await send({"type": "http.response.body", "body": b"de"})


def test_each_request_is_a_line_of_json_with_its_ids(lines):
    async def send(message):
        pass

    async def receive():
        return {}

    async def request():
        scope = {"type": "http", "method": "GET", "path": "/skills/", "query_string": b"q=secret"}
        with log_context.bind("request", "abc12345", team="7"):
            await AccessLog(_app)(scope, receive, send)

    run_in_loop(request())
    (line,) = lines()
    expected = {"method": "GET", "path": "/skills/", "status": 201, "bytes": 5, "request_id": "abc12345"}
    assert expected.items() <= line.items()
    assert (line["team_id"], line["level"], line["logger"]) == ("7", "INFO", "skillquay.access")
    assert "secret" not in json.dumps(line)


def test_traceback_stays_in_one_line(lines):
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("skillquay").exception("failed")
    (line,) = lines()
    assert "ValueError: two" in line["exc_info"]


def _routes(patterns, prefix=""):
    for pattern in patterns:
        route = prefix + str(pattern.pattern) if isinstance(pattern.pattern, RoutePattern) else prefix
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _routes(pattern.url_patterns, route)


def test_no_path_that_gives_access_is_logged():
    secret = [r for r in _routes(get_resolver().url_patterns) if "<str:secret>" in r or "token>" in r]
    assert {route.partition("/")[0] for route in secret} | {"c"} == set(SECRET_ROOTS)
    assert logged_path("/c/abc/docs/pdf.git/info/refs") == "/c/…"
    assert logged_path("/shared/abc/log/") == "/shared/…"
    assert logged_path("/a b\n\x1b[31m") == "/a%20b%0A%1B[31m"


def test_supervisor_adds_the_program_to_lines_of_json(tmp_path):
    log = io.StringIO()
    supervisor = Supervisor([], folder=tmp_path, grace_s=1, log=log, json_lines=True)
    supervisor.write_log("web", '{"level": "INFO", "message": "ready"}')
    supervisor.write_log("web", "INFO: plain")
    first, second = map(json.loads, log.getvalue().splitlines())
    assert first == {"level": "INFO", "message": "ready", "program": "web"}
    assert (second["message"], second["program"]) == ("INFO: plain", "web")


def test_message_of_several_lines_is_one_line():
    record = logging.makeLogRecord({"msg": "lost:\n  again in %s s\n\n", "args": (2,)})
    assert LineFormatter("%(message)s").format(record) == "lost:   again in 2 s"
