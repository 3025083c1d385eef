import json

import pytest
from django.db import OperationalError
from django.test import Client

from registry.api.error_response import problem_response
from registry.api.errors import MEDIA_TYPE_UNSUPPORTED
from registry.core.errors import NOT_FOUND
from registry.log_context import ContextFilter
from tests.addresses import filled
from tests.api.conftest import THERE, assert_error, session_api
from tests.api.test_walk import addresses
from tests.pages import part

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]
SKILL = "skills/docs/summarise"


@pytest.mark.parametrize(
    "path",
    [
        "/api/", "/api/v1", "/api/v1/", "/api/v2/skills", "/api/v1/nothing", "/api/v1/skills/",
        "/api/v1/skills/a",
        "/api/v1/skills/a%00/b", "/api/v1/skills/docs/%FF%FE", "/api/nothing.html", "/api/v1/errors/%00",
    ],
)  # fmt: skip
def test_an_address_without_anything_answers_in_the_error_shape(anonymous, path):
    answer = anonymous.get(path)
    assert answer.status_code == 404
    assert_error(answer, 404, answer.json()["code"])


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "TRACE", "OPTIONS", "NONSENSE"])
def test_a_method_that_an_address_does_not_take_is_refused(as_alice, method):
    answer = as_alice(method, "search")
    assert_error(answer, 405, "METHOD_NOT_ALLOWED")
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense"]
)
def test_a_body_of_another_type_is_refused(version, as_alice, kind):
    document = assert_error(as_alice("PATCH", SKILL, b"{}", kind=kind), 415, "MEDIA_TYPE_UNSUPPORTED")
    expected = MEDIA_TYPE_UNSUPPORTED.problem(type=kind, accepted="application/json")
    assert document["message"] == expected.message()


def test_a_compressed_body_is_refused(version, as_alice):
    answer = as_alice("PATCH", SKILL, {"visibility": "site"}, headers={"Content-Encoding": "gzip"})
    assert_error(answer, 415, "MEDIA_TYPE_UNSUPPORTED")


def test_a_chunked_body_is_refused(version, as_alice):
    answer = as_alice("PATCH", SKILL, headers={"Transfer-Encoding": "chunked"})
    assert_error(answer, 411, "LENGTH_REQUIRED")


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"nothing", b"\xff", b"\xef\xbb\xbf{}", b'{"visibility": NaN}',
        b'{"visibility": Infinity}',
        b'{"visibility": 1e999}', b'{"visibility": ' + b"9" * 5000 + b"}", b'{"visibility": "a\\u0000b"}',
        b'{"visibility": "\\ud800"}', b'{"\\ud800": 1}', b'{"visibility": "site", "visibility": "public"}',
        b"[" * 100_000, b'{"a":' * 50_000, b"[" * 65 + b"]" * 65, b'{"visibility": "site"} more', b"'single'",
        b'{"visibility": "' + b"x" * 100_000 + b'"}', b'{"visibility": {"a": [1, 2, {"b": null}]}}',
    ],
)  # fmt: skip
def test_no_body_is_too_hostile_for_a_code_and_a_place(version, as_alice, body):
    answer = as_alice("PATCH", SKILL, body, kind="application/json")
    assert answer.status_code in (400, 422), answer.content[:300]
    document = assert_error(answer, answer.status_code, answer.json()["code"])
    assert document["code"] in ("JSON_INVALID", "FIELD_INVALID", "FIELD_REQUIRED")
    assert len(answer.content) < 5000


def test_a_hundred_thousand_unknown_keys_do_not_make_an_answer_as_large(version, as_alice):
    answer = as_alice("PATCH", SKILL, {f"key{n}": 1 for n in range(100_000)})
    assert_error(answer, 422, "FIELD_UNKNOWN")
    assert len(answer.content) < 10_000


def test_broken_json_is_refused_with_the_line(version, as_alice):
    answer = as_alice("PATCH", SKILL, b'{\n "visibility":\n oops}', kind="application/json")
    assert assert_error(answer, 400, "JSON_INVALID")["problems"][0]["line"] == 3


def test_a_json_body_over_the_limit_is_refused(version, as_alice, settings):
    settings.SKILLQUAY_MAX_REQUEST_BYTES = 1024
    body = {"visibility": "x" * 2000}
    assert_error(as_alice("PATCH", SKILL, body), 413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("length", ["-1", "x", "", "99999999999999999999999", "1e3"])
def test_a_wrong_content_length_breaks_nothing(version, as_alice, length):
    answer = as_alice("PATCH", SKILL, {"visibility": "site"}, CONTENT_LENGTH=length)
    assert answer.status_code < 500
    answer = as_alice.post("packages", b"PK", kind="application/zip", CONTENT_LENGTH=length)
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    "query",
    [
        "limit=0", "limit=-1", "limit=x", "limit=" + "9" * 5000, "limit=1.5", "q=%00", "cursor=" + "a" * 2000,
        "limit[]=1", "q=" + "x" * 100_000, "%00=1", "ids=" + "a," * 200, "type=" + "x" * 100,
        "limit=%F0%9F%98%80",
    ],
)  # fmt: skip
def test_no_parameter_is_too_hostile_for_a_code_and_a_place(as_alice, query):
    answer = as_alice.get(f"skills?{query}")
    document = assert_error(answer, 400, answer.json()["code"])
    assert document["problems"][0]["path"] or query.startswith(("q=%00", "%00"))


def test_half_characters_in_a_query_are_only_looked_for(as_alice):
    assert as_alice.get("skills?q=%ED%A0%80&team=%FF").json()["items"] == []


def test_an_unexpected_error_is_logged_and_tells_nothing(version, as_alice, monkeypatch, caplog):
    def broken(*_, **__):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr("registry.lookup.skills.find_skill", broken)
    caplog.handler.addFilter(ContextFilter())
    answer = as_alice.get(SKILL)
    document = assert_error(answer, 500, "INTERNAL")
    assert "secret" not in answer.content.decode()
    assert {record.context for record in caplog.records} == {f"request={document['request_id']}"}
    assert "a secret" in caplog.text


def test_a_database_that_does_not_answer_is_worth_another_try(version, as_alice, monkeypatch):
    def locked(*_, **__):
        raise OperationalError("database is locked")

    monkeypatch.setattr("registry.lookup.skills.find_skill", locked)
    answer = as_alice.get(SKILL)
    assert assert_error(answer, 503, "UNAVAILABLE")["retryable"]
    assert answer["Retry-After"] == "1"


def test_an_error_before_any_view_has_the_same_shape(as_alice, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("django.middleware.common.CommonMiddleware.process_request", broken)
    assert_error(as_alice.get("skills"), 500, "INTERNAL")


def test_texts_follow_the_language_and_codes_do_not(anonymous):
    answer = anonymous.get("skills/docs/none", headers={"Accept-Language": "zh-hans"})
    assert assert_error(answer, 404, "NOT_FOUND")
    assert answer["Content-Language"] == "zh-hans"


def test_every_answer_has_a_request_id_and_keeps_a_good_one(anonymous):
    assert len(anonymous.get("skills")["X-Request-ID"]) == 26
    assert anonymous.get("skills", headers={"X-Request-ID": "trace-0001"})["X-Request-ID"] == "trace-0001"
    for bad in ("short", "x" * 65, "a b c d e f", "<script>alert</script>"):
        assert anonymous.get("skills", headers={"X-Request-ID": bad})["X-Request-ID"] != bad


def test_the_docs_url_of_an_error_leads_to_its_code(anonymous, settings):
    document = anonymous.get("skills/docs/none").json()
    path = document["docs_url"].removeprefix(settings.SKILLQUAY_PUBLIC_URL)
    page = part(Client().get(path), "error-code")
    assert page["code"] == "NOT_FOUND"
    assert page.select("a", href="/api/v1/errors/NOT_FOUND")


def test_an_accept_header_changes_nothing(anonymous):
    for accept in ("text/html", "image/png", "nonsense", "application/xml;q=0.1"):
        answer = anonymous.get("skills", headers={"Accept": accept})
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
        assert json.loads(answer.content)["items"] == []


@pytest.mark.row("P5")
def test_a_body_of_a_hundred_thousand_lists_is_refused_before_it_is_read(as_bob):
    body = b'{"skill": "docs/x", "inputs": {"a": [' + b",".join([b"[]"] * 100_000) + b"]}}"
    assert_error(as_bob.post("runs", body), 400, "JSON_INVALID")


@pytest.mark.row("B3")
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_no_explanation_of_a_code_shows_a_placeholder(anonymous, language):
    codes = anonymous.get("errors", headers={"Accept-Language": language}).json()["items"]
    assert len(codes) > 100
    assert not [one["code"] for one in codes if "%(" in one["message"] + one["remedy"]]


@pytest.mark.row("P8")
@pytest.mark.parametrize("body", ['{"键": 1}', '{"键": 1, "键": 2}'])
def test_names_in_errors_are_not_escaped(as_alice, body):
    answer = as_alice("POST", "runs", body.encode())
    assert answer.status_code in (400, 422)
    assert "键" in answer.content.decode()


@pytest.mark.row("P8")
def test_lone_surrogate_in_an_error_stays_valid_json(rf):
    answer = problem_response(rf.get("/"), NOT_FOUND.problem(what="file", name="\ud800"))
    assert "\ud800" in json.loads(answer.content)["message"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_unknown_query_parameters_are_refused_everywhere(private, administrator, method):
    api, wrong = session_api(administrator), []
    service = api.post("teams/docs/service-accounts", {"name": "nightly"}).json()["username"]
    for route in addresses():
        if ".well-known/" in route:  # its clients may add parameters
            continue
        there = THERE | {
            "username": service if "service-accounts" in route else "alice",
            "code": "NOT_FOUND",
            "other": private["runs"],
        }
        there["uid"] = private.get(route.split("/")[0], "1")
        answer = api(method, filled(route, there) + "?nonsense=1", {})
        if answer.status_code != 405 and b"QUERY_UNKNOWN" not in answer.getvalue():
            wrong.append((route, answer.status_code, answer.getvalue()[:60]))
    assert wrong == []
