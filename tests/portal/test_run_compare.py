"""The page that holds two runs against each other, and the ways there."""

from __future__ import annotations

import pytest

from tests.run_samples import HOSTILE, add_log, make_hostile_run, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.fixture
def pair(public, bob, team):
    earlier = make_run(public.latest, bob, team)
    later = make_run(
        public.latest, bob, team, request={"inputs": {"city": "上海", "days": 7}}, again_of=earlier
    )
    add_log(earlier, ("stdout", "a line\n"))
    add_log(later, ("stdout", "a line\nanother\n"))
    return earlier, later


def test_two_ticked_runs_lead_to_what_differs(browse, bob, pair):
    client = browse(bob)
    assert f'name="run" value="{pair[0].uid}"' in client.get("/runs/").text
    answer = client.get(f"/runs/compare/?run={pair[1].uid}&run={pair[0].uid}")
    assert answer["Location"] == f"/runs/{pair[0].uid}/compare/{pair[1].uid}/"
    page = client.get(answer["Location"]).text
    for text in ("/city", "&quot;上海&quot;", "another", "Both are the same."):
        assert text in page


@pytest.mark.parametrize(("language", "said"), [("en", "Succeeded"), ("zh-hans", "成功")])
def test_how_the_runs_ended_is_said_in_the_reader_s_language(browse, bob, pair, language, said):
    page = browse(bob, language).get(f"/runs/{pair[0].uid}/compare/{pair[1].uid}/").text
    assert f"<bdi>{said}</bdi></td>" in page
    assert "<bdi>succeeded</bdi>" not in page


def test_a_difference_that_is_not_shown_has_no_sign_and_digests_are_short(browse, bob, pair):
    earlier, later = pair
    for run, took in ((earlier, 2000.02), (later, 2000)):
        attempt = run.attempts.get()
        attempt.steps[2]["duration_ms"] = took
        attempt.save(update_fields=["steps"])
    page = browse(bob).get(f"/runs/{earlier.uid}/compare/{later.uid}/").text
    assert page.count("0.0 ms</td>") == 5
    assert "−0.0" not in page
    assert "+0.0" not in page
    assert earlier.digest.removeprefix("sha256:")[:12] in page
    assert earlier.digest not in page


@pytest.mark.parametrize("ticked", ["", "run=a", "run=a&run=b&run=c"])
def test_one_run_or_three_are_not_compared(browse, bob, ticked):
    answer = browse(bob).get(f"/runs/compare/?{ticked}", follow=True)
    assert "Tick two runs" in answer.text


def test_a_run_offers_the_ones_to_compare_it_with(browse, bob, pair):
    link = f'href="/runs/{pair[0].uid}/compare/{pair[1].uid}/"'
    page = browse(bob).get(f"/runs/{pair[1].uid}/").text
    assert page.count(link) == 1
    assert "the run that it repeats" in page


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
