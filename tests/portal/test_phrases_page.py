from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.models import SkillPhrase
from registry.trigger_tests import phrases
from tests.api.conftest import assert_error, session_api
from tests.api.conftest import token_api as token_api
from tests.pages import messages, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
SETTINGS = "/skills/docs/weekly-report/settings/"


@pytest.fixture
def proposed(private, alice):
    return phrases.propose(private, ["总结这份报告", "sum up the week"], Actor(user=alice))


def test_maintainers_accept_and_decline_on_the_settings_page(browse, alice, bob, proposed):
    page = browse(alice).get(SETTINGS)
    assert "总结这份报告" in page.text
    assert parts(page, "no-model")
    browse(alice).post(f"{SETTINGS}phrases/{proposed[0].uid}/", {"accept": "1"})
    browse(alice).post(f"{SETTINGS}phrases/{proposed[1].uid}/", {})
    assert list(SkillPhrase.objects.order_by("pk").values_list("state", flat=True)) == [
        "accepted",
        "declined",
    ]
    assert browse(bob).post(f"{SETTINGS}phrases/{proposed[0].uid}/", {}).status_code == 403


def test_without_a_model_the_page_says_so_instead_of_failing(browse, alice, private):
    page = browse(alice).post(f"{SETTINGS}phrases/", follow=True)
    assert (messages(page), part(page, "message")["code"]) == (["error"], "MODEL_DISABLED")


def test_the_api_tells_and_decides_them_for_a_person(proposed, alice, bob, charlie, token_api):
    address = "skills/docs/weekly-report/phrases"
    items = session_api(alice).get(address).json()["items"]
    assert [(item["text"], item["state"]) for item in items] == [
        ("sum up the week", "proposed"), ("总结这份报告", "proposed")
    ]  # fmt: skip
    chosen = f"{address}/{items[0]['id']}"
    assert session_api(alice).post(chosen, {"accept": True}).json()["items"][1]["state"] == "accepted"
    assert_error(token_api(alice, "publish").post(chosen, {"accept": False}), 403, "FORBIDDEN")
    assert_error(session_api(bob).get(address), 403, "FORBIDDEN")
    assert_error(session_api(charlie).get(address), 404, "NOT_FOUND")
    assert_error(session_api(alice).post(f"{address}/propose"), 409, "MODEL_DISABLED")
    assert_error(session_api(alice).post(f"{address}/absent", {"accept": True}), 404, "NOT_FOUND")
