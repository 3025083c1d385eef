"""Rate limits of pages: a readable page with status 429."""

from __future__ import annotations

import pytest

from registry.rates.counters import WINDOW_S
from tests.factories.runs import make_run
from tests.pages import codes, part
from worker.models import Run

pytestmark = [pytest.mark.row("P9"), pytest.mark.django_db]


PAGES = [
    ("search", "GET", "/skills/?q=report", {}),
    ("match", "GET", "/skills/match/test/?q=weekly+report", {}),
    ("publish", "POST", "/publish/", {"team": "docs"}),
    ("publish", "POST", "/publish/new/", {"team": "docs"}),
    ("run", "POST", "/skills/docs/weekly-report/run/", {}),
    ("sign_in", "POST", "/account/password/", {"old_password": "wrong"}),
]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize(("kind", "method", "path", "form"), PAGES)
def test_page_above_the_limit_is_readable(
    browse, alice, private, rate_limits, kind, method, path, form, language
):
    rate_limits(**{kind: 1})
    client = browse(alice, language)
    first, refused = (client.generic(method, path, _body(form), FORM) for _ in range(2))
    assert first.status_code != 429
    assert (refused.status_code, codes(refused)) == (429, ["RATE_LIMITED"])
    assert 0 < int(refused["Retry-After"]) <= WINDOW_S
    assert refused["RateLimit-Remaining"] == "0"
    assert refused["Retry-After"] in part(refused, "problem").text
    assert Run.objects.count() <= 1


FORM = "application/x-www-form-urlencoded"


def _body(form):
    return "&".join(f"{name}={value}" for name, value in form.items())


def test_rerun_above_the_limit_starts_nothing(browse, alice, private, rate_limits):
    client, run = browse(alice), make_run(private.latest, alice, private.team)
    rate_limits(run=1)
    assert client.post(f"/runs/{run.uid}/rerun/").status_code == 302
    before = Run.objects.count()
    assert client.post(f"/runs/{run.uid}/rerun/").status_code == 429
    assert Run.objects.count() == before


def test_sign_in_counts_per_address_whatever_the_name(browse, bob, rate_limits):
    rate_limits(sign_in=1)
    client = browse()
    answers = [
        client.post("/sign-in/", {"username": name, "password": "bob-password"}, REMOTE_ADDR=address)
        for name, address in [("charlie", "192.0.2.1"), ("bob", "192.0.2.1"), ("bob", "192.0.2.2")]
    ]
    assert [answer.status_code for answer in answers] == [200, 429, 302]
    assert codes(answers[1]) == ["RATE_LIMITED"]
    assert client.get("/sign-in/").status_code != 429


def test_lock_out_states_when_it_ends(browse, bob, monkeypatch):
    monkeypatch.setattr("registry.accounts.lock_outs.MAX_FAILURES", 1)
    page = browse().post("/sign-in/", {"username": "bob", "password": "wrong"})
    assert (page.status_code, page["Retry-After"]) == (429, "900")
