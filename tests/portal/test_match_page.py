"""The try-it page: which skills fit a sentence and why, for whoever asks; none, and what to do then."""

from __future__ import annotations

import re

import pytest

from registry.matching.confidence import LEAST
from tests.samples import hostile_files, prompt_files, publish_files, tidy_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
PAGE = "/skills/match/"
TRIGGERS = (
    "triggers: {phrases: [wrap up my week, 写周报], intents: [sum_up_week], event_types: [week.ended]}\ntags:"
)


@pytest.fixture
def weekly(team, alice):
    """docs/weekly-report, with phrases, an intent and an event; offered to everybody."""
    files = tidy_files()
    files["SKILL.md"] = files["SKILL.md"].replace(b"tags:", TRIGGERS.encode())
    skill = publish_files(files, team=team, user=alice, visibility="public").skill
    skill.is_bundled = True
    skill.save()
    return skill


@pytest.fixture
def ask(browse):
    return lambda user=None, **query: browse(user).get(PAGE, query)


def marks(page):
    return re.findall(r'<mark title="([^"]*)"><bdi>([^<]*)</bdi></mark>', page.text)


def test_before_anything_is_asked_there_are_examples_in_both_languages(ask):
    page = ask()
    assert page.status_code == 200
    assert 'lang="zh-hans"' in page.text
    assert "For example" in page.text


def test_the_phrase_is_marked_where_it_stands_with_its_field_and_skill(ask, weekly):
    page = ask(q="Please WRAP UP  my week, will you")
    assert marks(page) == [("docs/weekly-report: trigger phrases", "WRAP UP  my week")]
    assert "Asked for" in page.text
    assert "100 %" in page.text
    assert "<bdi>Please </bdi>" in page.text
    assert "<bdi>, will you</bdi>" in page.text


def test_a_sentence_of_several_lines_shows_no_character_that_the_browser_added(ask, weekly):
    page = ask(q="Good morning,\r\nwrap up\r\nmy week")
    assert marks(page) == [("docs/weekly-report: trigger phrases", "wrap up\nmy week")]
    assert "U+000D" not in page.text


def test_words_are_marked_and_weighed_in_both_languages(ask, weekly):
    page = ask(q="把笔记变成报告 with figures")
    said = dict(reversed(mark) for mark in marks(page))
    assert "figures" in said
    assert any("报告" in text for text in said)
    assert all("docs/weekly-report" in title for title in said.values())
    assert "means the same" in page.text
    assert "By its words" in page.text


@pytest.mark.parametrize("query", [{"intent": "sum_up_week"}, {"event": "week.ended"}])
def test_an_intent_or_an_event_alone_asks_for_a_skill(ask, weekly, query):
    page = ask(**query)
    assert "docs/weekly-report" in page.text
    assert "<details open><summary>An intent, an event or files" in page.text


@pytest.mark.row("D8")
def test_a_skill_for_certain_files_appears_only_where_one_is_named(ask, team, alice, bob):
    said = prompt_files()["SKILL.md"].replace(b"tags:", b'paths: ["**/*.md"]\ntags:')
    publish_files({"SKILL.md": said}, team=team, user=alice)
    assert "None: no skill" in ask(bob, q="review this text kindly").text
    assert "docs/kind-review" in ask(bob, q="review this text kindly", paths="notes.txt\r\ndocs/a.md\n").text


def test_each_row_says_what_can_be_done_and_what_it_needs(ask, weekly, bob, public):
    page = ask(bob, q="wrap up my week")
    assert 'href="/skills/docs/weekly-report/run/?inputs=' in page.text
    assert "not used yet" in page.text
    page = ask(None, q="wrap up my week")
    assert 'href="/skills/docs/weekly-report/run/' not in page.text
    assert 'href="/skills/docs/weekly-report/use/"' in page.text
    assert 'href="/skills/docs/kind-review/use/"' in ask(bob, q="review this text kindly").text


def test_a_run_form_begins_with_what_was_said_where_one_input_takes_it(ask, weekly, browse, bob):
    page = ask(bob, q="wrap up my week")
    address = re.search(r'href="(/skills/docs/weekly-report/run/\?inputs=[^"]+)"', page.text)[1]
    form = browse(bob).get(address)
    assert "wrap up my week" in form.text
    for broken in ("{", "7", "[[]]", '"\\ud800"', '{"notes": "\\ud800"}', '{"x": NaN}', "[" * 9000):
        assert browse(bob).get("/skills/docs/weekly-report/run/", {"inputs": broken}).status_code == 200


@pytest.mark.parametrize(
    ("outcome", "said"), [("worked", "counts as a use"), ("wrong_skill", "must not match")]
)
def test_a_reader_says_whether_it_was_the_right_one_and_is_led_back(browse, bob, weekly, outcome, said):
    query = {"q": "wrap up my week", "paths": "a.py\nb.py"}
    sent = browse(bob).post(
        f"{PAGE}report/", {**query, "skill": str(weekly), "outcome": outcome}, follow=True
    )
    assert said in sent.text
    assert dict(sent.wsgi_request.GET.items()) == query
    assert 'name="outcome" value="worked"' in sent.text
    weekly.refresh_from_db()
    assert weekly.usage_count == (outcome == "worked")
    assert weekly.proposed_tests.count() == (outcome == "wrong_skill")


def test_what_is_not_there_or_makes_no_sense_is_reported_by_nobody(browse, charlie, bob, ask, weekly):
    report = {"q": "x", "skill": "docs/nothing", "outcome": "worked"}
    assert browse(charlie).post(f"{PAGE}report/", report).status_code == 404
    assert browse(bob).post(f"{PAGE}report/", {**report, "outcome": "great"}).status_code == 422
    assert browse(None).post(f"{PAGE}report/", report).status_code == 302
    assert 'name="outcome"' not in ask(None, q="wrap up my week").text


def test_none_is_explained_with_the_threshold_and_what_to_do(ask, weekly, bob, administrator):
    page = ask(q="the weather on mars is dusty this time of year")
    for part in (
        "None: no skill is likely enough",
        f"a likelihood of {LEAST:.2f}",
        "Search the catalog",
        "Sign in",
    ):
        assert part in page.text
    assert "triggers.phrases" in ask(bob, q="xyzzy plugh").text
    assert 'href="/glossary/">Is a word unknown' in ask(administrator, q="xyzzy plugh").text


def test_the_sentence_of_a_stranger_is_harmless(ask, weekly, bob, team):
    publish_files(hostile_files(), team=team, user=bob)
    page = ask(bob, q="<script>alert(1)</script> wrap up my week \u202e hostile skill javascript")
    assert "<script>alert(1)" not in page.text
    assert '<span class="hidden-char">U+202E</span>' in page.text
    assert "</script>alert" not in page.text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"q": "x" * 5000}, 422),
        ({"q": "a\0b"}, 422),
        ({"paths": "\n".join(map(str, range(200)))}, 422),
        ({"q": "   "}, 200),
        ({"q": "😀🎉"}, 200),
        ({"q": "报告" * 1000}, 200),
    ],
)
def test_any_address_gets_a_page(ask, weekly, query, status):
    assert ask(**query).status_code == status


@pytest.mark.parametrize(
    "address",
    [
        f"{PAGE}?q=weekly+report",
        "/skills/?q=weekly+report",
        "/skills/?q=weeklly",
        "/skills/?q=周报",
        "/skills/",
        "/",
    ],
)
def test_charlies_pages_are_the_same_before_and_after_a_private_publish(
    browse, charlie, public, team, alice, address
):
    """Search, match, slips, counts: not a byte tells of what is private."""
    told = [_told(browse(user).get(address)) for user in (charlie, None)]
    publish_files(tidy_files(), team=team, user=alice)
    assert [_told(browse(user).get(address)) for user in (charlie, None)] == told


def _told(page):
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page.text)
    return page.status_code, re.sub(r"(just now|\d+\xa0\w+ ago)", "", text)


def test_the_first_page_and_the_catalog_lead_here(browse, public):
    assert f'<form action="{PAGE}">' in browse(None).get("/").text
    page = browse(None).get("/skills/?q=zzz+yyy")
    assert f'href="{PAGE}?q=zzz%20yyy"' in page.text
