"""Pages for what went wrong, in our design and both languages."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory

from portal.pages.errors import views as errors
from tests.pages import is_chinese, part

pytestmark = [pytest.mark.django_db, pytest.mark.row("P8")]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_an_address_without_a_page(browse, language):
    page = browse(None, language).get("/nowhere/")
    assert page.status_code == 404
    error = part(page, "error")
    assert error["code"] == "404"
    assert is_chinese(error.text) == (language == "zh-hans")
    assert 'data-nav="catalog"' in page.text


def test_a_form_without_its_key_is_refused_in_words(bob):
    client = Client(enforce_csrf_checks=True)
    page = client.post("/sign-in/", {"username": "bob"})
    assert page.status_code == 403
    assert part(page, "error")["code"] == "CSRF"


def test_the_page_of_a_break_needs_neither_database_nor_session(django_assert_num_queries):
    with django_assert_num_queries(0):
        page = errors.broken(RequestFactory().get("/"))
    assert page.status_code == 500
    assert part(page, "error")["code"] == "500"


def test_a_stranger_who_may_not_is_asked_to_sign_in(browse, public):
    answer = browse(None).get("/skills/docs/kind-review/settings/")
    assert answer["Location"].startswith("/sign-in/?next=/skills/docs/kind-review/settings/")


def test_a_bad_request_has_a_page():
    page = errors.bad_request(with_session(RequestFactory().get("/")))
    assert page.status_code == 400


def with_session(request):
    from django.contrib.auth.models import AnonymousUser
    from django.contrib.messages.storage.cookie import CookieStorage

    request.user, request.session = AnonymousUser(), {}
    request._messages = CookieStorage(request)
    return request


@pytest.mark.parametrize("address", ["/preferences/theme/", "/runs/compare/", "/skills/match/report/"])
def test_the_address_of_a_button_opened_by_hand_is_a_page_with_a_way_back(browse, bob, public, address):
    client = browse(bob)
    page = client.post(address) if address == "/runs/compare/" else client.get(address)
    assert page.status_code == 405
    assert page["Allow"]
    error = part(page, "error")
    assert error["code"] == "405"
    assert [link["href"] for link in error.tags("a")] == ["/"]
