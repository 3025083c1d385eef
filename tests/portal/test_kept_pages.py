"""Pages are kept for anonymous visitors only, and each visitor gets tokens of the own cookie."""

from __future__ import annotations

import gzip
import random
import re
import time
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.http import HttpResponse

from portal.streaming.kept.csrf import make_token, split_at_tokens
from registry.models import Skill, Version
from tests.factories.skills import publish_files, tidy_files
from tests.portal.test_kept_answers import (  # noqa: F401 - fixtures
    CSRF_TOKEN,
    _difference,
    bearer,
    changes,
    session,
    skills,
)

pytestmark = pytest.mark.row("P9")
PAGE = "/skills/docs/weekly-report/"
VERSION = f"{PAGE}1.0.0/"
PAGES = (
    "/skills/",
    PAGE,
    VERSION,
    f"{VERSION}files/",
    f"{VERSION}files/SKILL.md",
    f"{PAGE}diff/1.0.0..1.1.0/",
)


@pytest.fixture
def page(skills):  # noqa: F811
    """The address of a public skill's page."""
    Skill.objects.filter(slug="weekly-report").update(visibility="public")
    return PAGE


@pytest.mark.parametrize("path", PAGES)
def test_page_for_visitors_is_kept_without_its_tokens(processes, page, path):
    first = processes.get(path)
    assert first.status == 200
    calls = processes.calls
    second, third = processes.get(path), processes.get(path, accept_encoding="gzip")
    assert processes.calls == calls
    assert _difference(second, first) == []
    plain = gzip.decompress(third.body)
    assert plain.count(b"csrfmiddlewaretoken") == first.body.count(b"csrfmiddlewaretoken")
    tokens = [set(CSRF_TOKEN.findall(each.body)) for each in (first, second)]
    assert tokens[0]
    assert not tokens[0] & tokens[1]
    cookies = [each.headers["set-cookie"].partition(";")[0] for each in (first, second)]
    assert cookies[0] != cookies[1]


def test_tokens_of_a_kept_page_are_valid_for_its_visitor_only(processes, page, client):
    client = type(client)(enforce_csrf_checks=True)
    processes.get(page)
    answer = processes.get(page)
    cookie = answer.headers["set-cookie"].split(";")[0].removeprefix("csrftoken=")
    again = processes.get(page, cookie=f"csrftoken={cookie}")
    assert again.headers["set-cookie"].startswith(f"csrftoken={cookie};")
    other = processes.get(page)
    for given, status in ((answer, 302), (again, 302), (other, 403)):
        [token] = {each.decode() for each in CSRF_TOKEN.findall(given.body)}
        client.cookies["csrftoken"] = cookie
        form = {"theme": "dark", "next": "/", "csrfmiddlewaretoken": token}
        found = client.post("/preferences/theme/", form)
        assert found.status_code == status


@pytest.mark.parametrize("cookie", [None, "", "short", "é" * 32, "a" * 32 + "\r\nx: y", "a" * 32, "b" * 64])
def test_token_matches_the_cookie_that_is_set(cookie):
    token, (name, header) = make_token(cookie)
    value, _, others = header.decode().partition(";")
    secret = value.removeprefix("csrftoken=")
    assert (name, len(secret)) == (b"set-cookie", 32)
    assert (secret == cookie) == (cookie == "a" * 32)
    other = b"c" * 32 + b"d" * 32
    assert split_at_tokens(b'"%b" "%b"' % (token, other), secret) == (b'"', b'" "%b"' % other)
    response = HttpResponse()
    response.set_cookie("csrftoken", secret, max_age=settings.CSRF_COOKIE_AGE, samesite="Lax")
    expected = response.cookies["csrftoken"].OutputString()
    assert re.sub("expires=[^;]*", "", f"{value};{others}") == re.sub("expires=[^;]*", "", expected)


@pytest.mark.parametrize(
    "part",
    [
        {"accept_language": "zh-hans"},
        {"cookie": "django_language=zh-hans"},
        {"cookie": "theme=dark"},
        {"cookie": "zone=Asia/Shanghai"},
        {"query": "page=2"},
        {"accept": "text/html"},
    ],
    ids=str,
)
def test_each_part_of_a_page_request_is_in_its_key(processes, page, part):
    processes.get(page)
    calls = processes.calls
    answer = processes.get(page, **part)
    assert processes.calls == calls + 1
    assert _difference(answer, processes.get(page, process=None, **part)) == []
    assert _difference(processes.get(page), processes.get(page, process=None)) == []


def test_page_is_not_kept_for_other_clients(processes, page, alice, bob):
    """People with a session, clients with a token, visitors with messages, and scripts."""
    processes.get(page)
    clients = [session(alice), session(bob), bearer(alice), {"cookie": "messages=x"}, {"hx_request": "true"}]
    for client in [*clients, *clients]:
        calls = processes.calls
        answer = processes.get(page, **client)
        assert processes.calls == calls + 1
        assert _difference(answer, processes.get(page, process=None, **client)) == []
    assert b"alice" not in processes.get(page).body


def test_page_of_a_person_is_not_given_to_visitors(processes, page, alice):
    processes.get(page, **session(alice))
    assert b"alice" not in processes.get(page).body


def test_equal_requests_wait_for_one_new_page(processes, page):
    processes.get(page)
    for slug in ("Weekly", "Monthly"):
        Skill.objects.filter(slug="weekly-report").update(name=slug)
        calls = processes.calls
        found = processes.get_at_once(page, 5)
        assert processes.calls == calls + 1
        expected = processes.get(page, process=None)
        assert [_difference(answer, expected) for answer in found] == [[]] * 5
    Skill.objects.filter(slug="weekly-report").update(visibility="private")
    assert {answer.status for answer in processes.get_at_once(page, 5)} == {404}


def test_search_page_is_not_kept(processes, page):
    for calls in (1, 2):
        processes.get("/skills/", query="q=report")
        assert processes.calls == calls


@pytest.mark.parametrize("path", PAGES[:2])
def test_next_page_in_each_process_shows_the_new_state(processes, page, skills, team, alice, bob, path):  # noqa: F811
    writes = changes(skills, team, random.Random(18))
    writes["publish"] = lambda: publish_files(tidy_files("1.2.0"), team=team, user=alice, visibility="public")
    writes["describe"] = lambda: Skill.objects.filter(slug="weekly-report").update(description="Changed.")
    writes["delete"] = lambda: Version.objects.filter(number="1.0.0").delete()
    twice = ("hide", "rename", "purge", "merge", "release latest")
    names = [each for name in twice for each in (name, name)]
    for name in (*names, "yank", "hold", "pin", "deprecate", "publish", "describe", "delete"):
        for process in (0, 1):
            processes.get(path, process=process)
        writes[name]()
        expected = processes.get(path, process=None)
        for process in (0, 1):
            assert _difference(processes.get(path, process=process), expected) == [], name


def test_kept_page_ends_after_a_second(processes, page, monkeypatch):
    """It shows a count of uses, which changes no number."""
    processes.get(page)
    later = time.time() + 1.5
    clock = SimpleNamespace(time=lambda: later, perf_counter=time.perf_counter)
    monkeypatch.setattr("portal.streaming.kept.middleware.time", clock)
    calls = processes.calls
    processes.get(page)
    assert processes.calls == calls + 1
