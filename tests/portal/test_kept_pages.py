"""Pages are kept for a second, for all visitors or for one person; each gets tokens of the own cookie."""

from __future__ import annotations

import gzip
import random
import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.middleware import csrf

from portal.delivery.csrf_tokens import make_token, page_token, split_at_tokens
from portal.pages.skill.views import skill as skill_views
from registry.changes.drafts import PAGE_S
from registry.models import Membership, Skill, Version
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
_matches: Any = csrf._does_token_match  # type: ignore[attr-defined]
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
    assert _matches(token.decode(), secret)
    response = HttpResponse()
    response.set_cookie("csrftoken", secret, max_age=settings.CSRF_COOKIE_AGE, samesite="Lax")
    expected = response.cookies["csrftoken"].OutputString()
    assert re.sub("expires=[^;]*", "", f"{value};{others}") == re.sub("expires=[^;]*", "", expected)


@pytest.mark.parametrize("cookie", [None, "a" * 32])
def test_all_forms_of_a_page_have_one_token(cookie):
    request, other = HttpRequest(), b"c" * 64
    if cookie:
        request.META["CSRF_COOKIE"] = cookie
    token = page_token(request)
    assert token == page_token(request)
    assert _matches(token, request.META["CSRF_COOKIE"])
    page = b'"%b" "%b" "%b"' % (token.encode(), other, token.encode())
    assert split_at_tokens(page, request) == (b'"', b'" "%b" "' % other, b'"')
    csrf.rotate_token(request)  # at sign-in
    assert page_token(request) != token
    assert _matches(page_token(request), request.META["CSRF_COOKIE"])


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


@pytest.mark.parametrize("path", PAGES)
def test_page_for_a_person_is_kept_without_its_tokens(processes, page, alice, path):
    own = session(alice)
    processes.get(path, **own)  # stores the browser in the session
    first = processes.get(path, **own)
    calls = processes.calls
    second = processes.get(path, **own)
    assert processes.calls == calls
    assert _difference(second, first) == []
    assert b"alice" in second.body
    tokens = [set(CSRF_TOKEN.findall(each.body)) for each in (first, second)]
    assert tokens[0]
    assert not tokens[0] & tokens[1]


def test_each_person_gets_the_own_page(processes, page, alice, bob):
    """Also with the same roles, because a page shows the name, the runs and the counts of one person."""
    Membership.objects.filter(user=bob).update(role=Membership.objects.get(user=alice).role)
    clients = [session(alice), session(bob), {}]
    for client in clients * 3:
        answer = processes.get(page, **client)
        assert _difference(answer, processes.get(page, process=None, **client)) == []
    assert b"bob" in processes.get(page, **clients[1]).body
    assert b"alice" not in processes.get(page).body


def test_page_is_not_kept_for_other_clients(processes, page, alice):
    """Clients with a token, people with messages or after a change, scripts, and browsers that reload."""
    own = session(alice)
    for client in ({}, own, own):
        processes.get(page, **client)
    clients = [
        bearer(alice),
        {"hx_request": "true"},
        *(
            {"cookie": f"{start}{name}=1"}
            for start in ("", f"{own['cookie']}; ")
            for name in ("messages", "changed")
        ),
        {**own, "cache_control": "no-cache"},
        {**own, "hx_request": "true"},
    ]
    for client in [*clients, *clients]:
        calls = processes.calls
        answer = processes.get(page, **client)
        assert processes.calls == calls + 1, client
        assert _difference(answer, processes.get(page, process=None, **client)) == []


def test_page_with_a_message_is_not_kept(processes, page, alice, monkeypatch):
    def render(request, *args):
        messages.info(request, "Shown once.")
        return original(request, *args)

    original = skill_views.render
    own = session(alice)
    processes.get(page, **own)  # stores the browser in the session
    monkeypatch.setattr(skill_views, "render", render)
    assert b"Shown once." in processes.get(page, **own).body
    monkeypatch.setattr(skill_views, "render", original)
    assert b"Shown once." not in processes.get(page, **own).body


def test_change_marks_the_browser_of_a_person_only(client, alice, team):
    """Kept pages may be a second old, but nobody sees the state before the own change."""
    form = {"theme": "dark", "next": "/"}
    assert "changed" not in client.post("/preferences/theme/", form).cookies
    client.force_login(alice)
    mark = client.post("/preferences/theme/", form).cookies["changed"]
    assert mark["max-age"] > PAGE_S
    assert mark["httponly"]
    client.cookies.pop("changed")
    assert "changed" not in client.get("/skills/").cookies
    assert "changed" in client.get("/skills/docs/reports").cookies, "a redirect may be the end of a change"


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


@pytest.mark.parametrize("is_signed_in", [False, True])
@pytest.mark.parametrize("path", PAGES[:2])
def test_next_page_in_each_process_shows_the_new_state(
    processes,
    page,
    skills,  # noqa: F811
    team,
    alice,
    bob,
    path,
    is_signed_in,
):
    own = session(alice) if is_signed_in else {}
    writes = changes(skills, team, random.Random(18))
    writes["publish"] = lambda: publish_files(tidy_files("1.2.0"), team=team, user=alice, visibility="public")
    writes["describe"] = lambda: Skill.objects.filter(slug="weekly-report").update(description="Changed.")
    writes["delete"] = lambda: Version.objects.filter(number="1.0.0").delete()
    twice = ("hide", "rename", "purge", "merge", "release latest")
    names = [each for name in twice for each in (name, name)]
    people = ("role", "role", "username", "membership") if is_signed_in else ()
    for name in (*names, "yank", "hold", "pin", "deprecate", "publish", "describe", *people, "delete"):
        for process in (0, 1):
            processes.get(path, process=process, **own)
        writes[name]()
        expected = processes.get(path, process=None, **own)
        for process in (0, 1):
            assert _difference(processes.get(path, process=process, **own), expected) == [], name


def test_kept_page_ends_after_a_second(processes, page, monkeypatch):
    """It shows a count of uses, which changes no number."""
    processes.get(page)
    later = time.time() + 1.5
    clock = SimpleNamespace(time=lambda: later, perf_counter=time.perf_counter)
    monkeypatch.setattr("portal.streaming.kept.middleware.time", clock)
    calls = processes.calls
    processes.get(page)
    assert processes.calls == calls + 1
