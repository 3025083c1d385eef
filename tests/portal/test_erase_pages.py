"""What a run holds, and an account: exported, erased, by whom it concerns and nobody else."""

from __future__ import annotations

import json

import pytest

from registry.models import User
from tests.factories.runs import make_run
from tests.pages import codes, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P12")]
SENT = {"password": "bob-password", "confirmation": "bob"}


@pytest.fixture
def run(private, bob, team):
    return make_run(private.latest, bob, team, message="Kestrel", request={"inputs": {"word": "Kestrel"}})


def test_what_a_run_held_is_erased_and_its_row_stays(browse, bob, run):
    client = browse(bob)
    assert "Kestrel" in client.get(f"/runs/{run.uid}/").text
    page = client.post(f"/runs/{run.uid}/erase/", follow=True).text
    assert parts(page, "erased")
    assert "Kestrel" not in page
    assert "docs/weekly-report" in page
    assert f"/runs/{run.uid}/rerun/" not in page


def test_charlie_erases_nothing(browse, charlie, run):
    assert browse(charlie).post(f"/runs/{run.uid}/erase/").status_code == 404
    run.refresh_from_db()
    assert run.erased_at is None


def test_everything_that_is_kept_comes_as_one_file(browse, bob, run):
    answer = browse(bob).get("/account/export/")
    assert answer["Content-Disposition"].startswith("attachment")
    document = json.loads(answer.getvalue())
    assert document["account"]["username"] == "bob"
    assert document["runs"][0]["request"] == {"inputs": {"word": "Kestrel"}}
    assert document["reports"] == []


@pytest.mark.parametrize(("field", "value"), [("password", "wrong"), ("confirmation", "alice")])
def test_an_account_is_not_erased_by_a_slip(browse, bob, field, value):
    page = browse(bob).post("/account/erase/", SENT | {field: value})
    assert parts(page, "errors")
    assert User.objects.filter(username="bob").exists()


def test_an_account_is_erased_and_signed_out(browse, bob, run):
    client = browse(bob)
    assert client.post("/account/erase/", SENT)["Location"] == "/"
    assert not User.objects.filter(username="bob").exists()
    assert client.get("/account/").status_code == 302


def test_last_owner_cannot_erase_their_account(browse, alice, bob):
    page = browse(alice).post("/account/erase/", {"password": "alice-password", "confirmation": "alice"})
    assert codes(part(page, "errors")) == ["LAST_OWNER"]
    assert User.objects.filter(username="alice").exists()
