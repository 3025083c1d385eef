"""The page that holds two runs against each other, and the ways there."""

from __future__ import annotations

import pytest
from django.utils import translation

from portal.presenters.status import TONES
from tests.factories.runs import HOSTILE, add_artifact, add_log, make_hostile_run, make_run
from tests.factories.skills import PNG
from tests.pages import is_chinese, messages, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.fixture
def pair(public, bob, team):
    earlier = make_run(public.latest, bob, team)
    later = make_run(
        public.latest, bob, team, request={"inputs": {"city": "上海", "days": 7}}, rerun_of=earlier
    )
    add_log(earlier, ("stdout", "a line\n"))
    add_log(later, ("stdout", "a line\nanother\n"))
    return earlier, later


def test_two_ticked_runs_lead_to_what_differs(browse, bob, pair):
    client = browse(bob)
    assert select(client.get("/runs/"), "input", name="run", value=pair[0].uid)
    answer = client.get(f"/runs/compare/?run={pair[1].uid}&run={pair[0].uid}")
    assert answer["Location"] == f"/runs/{pair[0].uid}/compare/{pair[1].uid}/"
    page = client.get(answer["Location"]).text
    for text in ("/city", "&quot;上海&quot;", "another"):
        assert text in page
    assert (part(page, "inputs")["state"], part(page, "output")["state"]) == ("different", "same")


def test_images_are_compared_side_by_side_and_equal_files_folded(browse, bob, pair):
    for run, color in zip(pair, (b"red", b"blue"), strict=True):
        add_artifact(run, "out/plot.png", PNG + color)
        add_artifact(run, "out/same.csv", b"a,b\n")
    add_artifact(pair[1], "out/new.txt", b"new")
    add_artifact(pair[1], "out/new.jpg", b"new")
    page = browse(bob).get(f"/runs/{pair[0].uid}/compare/{pair[1].uid}/")
    sources = {
        images["value"]: [image["src"] for image in images.tags("img")] for images in parts(page, "images")
    }
    assert sources == {
        "out/plot.png": [f"/runs/{run.uid}/images/out/plot.png" for run in pair],
        "out/new.jpg": [f"/runs/{pair[1].uid}/images/out/new.jpg"],
    }
    folded = part(page, "equal-files")
    assert folded.tag == "details"
    assert "out/same.csv" in folded
    assert "out/new.txt" not in folded


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_run_statuses_are_in_the_readers_language(browse, bob, pair, language):
    page = browse(bob, language).get(f"/runs/{pair[0].uid}/compare/{pair[1].uid}/").text
    with translation.override(language):
        label = str(TONES["succeeded"][2])
    assert is_chinese(label) is (language == "zh-hans")
    assert f"<bdi>{label}</bdi></td>" in page
    assert "<bdi>succeeded</bdi>" not in page


def test_a_difference_that_is_not_shown_has_no_sign_and_digests_are_short(browse, bob, pair):
    earlier, later = pair
    for run, took in ((earlier, 2000.02), (later, 2000)):
        attempt = run.attempts.get()
        attempt.steps[2]["duration_ms"] = took
        attempt.save(update_fields=["steps"])
    page = browse(bob).get(f"/runs/{earlier.uid}/compare/{later.uid}/").text
    assert [cell.text for cell in select(page, "td") if cell.text.endswith("0.0 ms")] == ["0.0 ms"] * 5
    assert "−0.0" not in page
    assert "+0.0" not in page
    assert earlier.digest.removeprefix("sha256:")[:12] in page
    assert earlier.digest not in page


@pytest.mark.parametrize("ticked", ["", "run=a", "run=a&run=b&run=c"])
def test_one_run_or_three_are_not_compared(browse, bob, ticked):
    answer = browse(bob).get(f"/runs/compare/?{ticked}", follow=True)
    assert messages(answer) == ["error"]
    assert answer.redirect_chain[-1][0] == "/runs/"


def test_a_run_offers_the_ones_to_compare_it_with(browse, bob, pair):
    link = f'href="/runs/{pair[0].uid}/compare/{pair[1].uid}/"'
    page = browse(bob).get(f"/runs/{pair[1].uid}/").text
    assert page.count(link) == 1


def test_a_stranger_finds_neither(browse, charlie, pair):
    client = browse(charlie)
    absent = client.get(f"/runs/{'0' * 26}/compare/{'1' * 26}/")
    found = client.get(f"/runs/{pair[0].uid}/compare/{pair[1].uid}/")
    assert (found.status_code, absent.status_code) == (404, 404)
    assert client.get(f"/runs/compare/?run={pair[0].uid}&run={pair[1].uid}").status_code == 404


def test_hostile_runs_make_no_markup(browse, bob, public, team, pair):
    hostile = make_hostile_run(public.latest, bob, team)
    page = browse(bob).get(f"/runs/{pair[0].uid}/compare/{hostile.uid}/").text
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert HOSTILE not in page


def test_facts_come_first_only_if_they_differ(browse, bob, public, team):
    first, second, failed = (
        make_run(public.latest, bob, team, status=status) for status in ("succeeded", "succeeded", "failed")
    )
    for other, expected in ((second, False), (failed, True)):
        page = browse(bob).get(f"/runs/{first.uid}/compare/{other.uid}/").text
        assert (page.index('id="facts"') < page.index('id="inputs"')) is expected
