"""The page that tests matching: which skills agents get for a request and why; none, and what to do then."""

from __future__ import annotations

import re

import pytest

from portal.presenters.reasons import FIELDS
from registry.matching.ranking import MIN_CONFIDENCE
from tests.checks import not_none
from tests.factories.skills import hostile_files, prompt_files, publish_files, tidy_files
from tests.pages import messages, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]
PAGE = "/skills/match/test/"
REPORT = "/skills/match/report/"
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
    """(title, text) of what is marked in the sentence."""
    found = [mark for mark in select(page, "mark") if "title" in mark.attributes]
    return [(mark["title"], "".join(mark.pieces)) for mark in found]


def test_before_anything_is_asked_there_are_examples_in_both_languages(ask):
    page = ask()
    assert page.status_code == 200
    assert 'lang="zh-hans"' in page.text
    assert {link["lang"] for link in part(page, "examples").tags("li")} == {"en", "zh-hans"}


def test_the_phrase_is_marked_where_it_stands_with_its_field_and_skill(ask, weekly):
    page = ask(q="Please WRAP UP  my week, will you")
    assert marks(page) == [(f"docs/weekly-report: {FIELDS['phrases']}", "WRAP UP  my week")]
    reason = part(part(page, "match", state="explicit"), "reason", state="phrase")
    assert reason["value"] == "1.00"
    assert "<bdi>Please </bdi>" in page.text
    assert "<bdi>, will you</bdi>" in page.text


def test_a_sentence_of_several_lines_shows_no_character_that_the_browser_added(ask, weekly):
    page = ask(q="Good morning,\r\nwrap up\r\nmy week")
    assert marks(page) == [(f"docs/weekly-report: {FIELDS['phrases']}", "wrap up\nmy week")]
    assert "U+000D" not in page.text


def test_words_are_marked_and_weighed_in_both_languages(ask, weekly):
    page = ask(q="把笔记变成报告 with figures")
    said = dict(reversed(mark) for mark in marks(page))
    assert "figures" in said
    assert any("报告" in text for text in said)
    assert all("docs/weekly-report" in title for title in said.values())
    match = part(page, "match", state="lexical", value="docs/weekly-report")
    assert "meaning" in {reason["state"] for reason in parts(match, "reason")}


def test_reasons_add_up_to_the_score_of_their_skill(ask, weekly):
    page = ask(q="把笔记变成报告 with figures")
    (row,) = page.context["rows"]
    assert sum(points for _reason, points in row["reasons"]) == pytest.approx(row["match"].score, abs=0.01)
    (bar, *_others) = [
        int(bar["width"]) for bar in select(page, "rect") if bar.attributes.get("class") == "bar"
    ]
    assert bar == round(1000 * row["reasons"][0][1])


def test_matches_of_low_score_say_that_no_skill_really_fits(ask, weekly, monkeypatch):
    assert not parts(ask(q="wrap up my week"), "weak-matches")
    monkeypatch.setattr("portal.pages.match.presenters._STRONG", 1.1)
    monkeypatch.setattr("portal.pages.match.presenters._WEAK", 1.1)
    page = ask(q="把笔记变成报告 with figures")
    assert parts(page, "weak-matches")
    assert parts(page, "match")
    assert not parts(ask(q="wrap up my week"), "weak-matches")


@pytest.mark.parametrize("query", [{"intent": "sum_up_week"}, {"event": "week.ended"}])
def test_an_intent_or_an_event_alone_asks_for_a_skill(ask, weekly, query):
    page = ask(**query)
    assert "docs/weekly-report" in page.text
    assert "open" in part(page, "more-terms").attributes


@pytest.mark.row("D8")
def test_a_skill_for_certain_files_appears_only_where_one_is_named(ask, team, alice, bob):
    said = prompt_files()["SKILL.md"].replace(b"tags:", b'paths: ["**/*.md"]\ntags:')
    publish_files({"SKILL.md": said}, team=team, user=alice)
    assert parts(ask(bob, q="review this text kindly"), "no-match")
    assert "docs/kind-review" in ask(bob, q="review this text kindly", paths="notes.txt\r\ndocs/a.md\n").text


def test_each_row_says_what_can_be_done_and_what_it_needs(ask, weekly, bob, public):
    page = ask(bob, q="wrap up my week")
    assert 'href="/skills/docs/weekly-report/run/?inputs=' in page.text
    assert part(part(page, "match", value="docs/weekly-report"), "uses")["value"] == "0"
    page = ask(None, q="wrap up my week")
    assert 'href="/skills/docs/weekly-report/run/' not in page.text
    assert 'href="/skills/docs/weekly-report/use/"' in page.text
    assert 'href="/skills/docs/kind-review/use/"' in ask(bob, q="review this text kindly").text


def test_a_run_form_begins_with_what_was_said_where_one_input_takes_it(ask, weekly, browse, bob):
    page = ask(bob, q="wrap up my week")
    address = not_none(re.search(r'href="(/skills/docs/weekly-report/run/\?inputs=[^"]+)"', page.text))[1]
    form = browse(bob).get(address)
    assert "wrap up my week" in form.text
    for broken in ("{", "7", "[[]]", '"\\ud800"', '{"notes": "\\ud800"}', '{"x": NaN}', "[" * 9000):
        assert browse(bob).get("/skills/docs/weekly-report/run/", {"inputs": broken}).status_code == 200


@pytest.mark.parametrize("outcome", ["worked", "wrong_skill"])
def test_feedback_is_counted_and_returns_to_the_question(browse, bob, weekly, outcome):
    query = {"q": "wrap up my week", "paths": "a.py\nb.py"}
    form = {**query, "skill": str(weekly), "outcome": outcome, "is_test": "on"}
    sent = browse(bob).post(REPORT, form, follow=True)
    assert sent.wsgi_request.path == PAGE
    assert messages(sent) == ["success"]
    assert dict(sent.wsgi_request.GET.items()) == query
    assert 'name="outcome" value="worked"' in sent.text
    weekly.refresh_from_db()
    assert weekly.usage_count == (outcome == "worked")
    assert weekly.proposed_tests.count() == (outcome == "wrong_skill")


def test_what_is_not_there_or_makes_no_sense_is_reported_by_nobody(browse, charlie, bob, ask, weekly):
    report = {"q": "x", "skill": "docs/nothing", "outcome": "worked"}
    assert browse(charlie).post(REPORT, report).status_code == 404
    assert browse(bob).post(REPORT, {**report, "outcome": "great"}).status_code == 422
    assert browse(None).post(REPORT, report).status_code == 302
    assert 'name="outcome"' not in ask(None, q="wrap up my week").text


def test_no_match_page_names_the_threshold_and_next_steps(ask, weekly, bob, administrator):
    page = ask(q="the weather on mars is dusty this time of year")
    assert part(page, "no-match")["value"] == f"{MIN_CONFIDENCE:.2f}"
    assert f"{MIN_CONFIDENCE:.2f}" in part(page, "no-match").text
    assert [hint["value"] for hint in parts(page, "hint")] == ["rephrase", "search", "sign-in"]
    assert links(part(page, "hint", value="search"))[0].startswith("/skills/?q=")
    assert links(part(page, "hint", value="sign-in"))[0].startswith("/sign-in/?next=")
    assert parts(ask(bob, q="xyzzy plugh"), "hint", value="add-phrase")
    assert links(part(ask(administrator, q="xyzzy plugh"), "hint", value="glossary")) == ["/glossary/"]


def links(element):
    return [link["href"] for link in element.tags("a")]


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


def test_catalog_without_a_hit_leads_here(browse, public):
    page = browse(None).get("/skills/?q=zzz+yyy")
    assert f'href="{PAGE}?q=zzz%20yyy"' in page.text
