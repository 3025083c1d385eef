"""One search box: keywords filter the catalog, and a sentence also shows the best match with its reasons."""

from __future__ import annotations

import pytest

from registry.matching.sentences import is_sentence
from registry.models import Membership, Role, Team
from tests.factories.runs import make_run
from tests.factories.skills import prompt_files, publish_files, tidy_files
from tests.pages import messages, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4", "P4")]
PAGE = "/skills/"
WEEK = "Please wrap up my week"


@pytest.fixture
def weekly(team, alice):
    """The private skill docs/weekly-report, with trigger phrases."""
    files = tidy_files()
    triggers = "triggers: {phrases: [wrap up my week, 写周报给老板]}\ntags:"
    files["SKILL.md"] = files["SKILL.md"].replace(b"tags:", triggers.encode())
    return publish_files(files, team=team, user=alice).skill


@pytest.fixture
def ask(browse):
    return lambda user=None, **query: browse(user).get(PAGE, query)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("report", False),
        ("weekly report", False),
        ("data-platform/csv-profile", False),
        ("周报", False),
        ("写周报", False),
        ("", False),
        ("?", False),
        ("wrap up my week", True),
        ("csv profile?", True),
        ("周报？", True),
        ("帮我写周报", True),
    ],
)
def test_sentence_has_several_words_or_a_question_mark(text, expected):
    assert is_sentence(text) is expected


@pytest.mark.parametrize("sentence", [WEEK, "请写周报给老板"])
def test_sentence_shows_the_best_match_with_its_reason(ask, bob, weekly, sentence):
    best = part(ask(bob, q=sentence), "best-match", state="strong")
    match = best.part("match", value="docs/weekly-report")
    reason = match.part("reason", state="phrase", value="phrases")
    assert reason.tags("mark")[0].text in sentence
    strength = match.part("strength", state="strong")
    assert 0.7 <= float(strength["value"]) <= 1
    assert strength["value"] in strength["title"]
    assert "1.2.0" in match


def test_keywords_show_hits_without_the_matcher(ask, bob, weekly):
    page = ask(bob, q="weekly report")
    assert not parts(page, "best-match")
    assert part(page, "skill")["value"] == "docs/weekly-report"


def test_best_match_is_not_listed_twice(ask, bob, weekly, public):
    page = ask(bob, q="kind review of my weekly report notes")
    best = part(page, "best-match").part("match")["value"]
    listed = [row["value"] for row in parts(page, "skill")]
    assert {best, *listed} == {"docs/weekly-report", "docs/kind-review"}
    assert best not in listed
    assert part(page, "hits").text == "1 other skill"


def test_link_that_shows_all_skills_names_what_it_clears(ask, bob, weekly):
    for query, text in (
        ({"q": "weekly"}, "Clear search"),
        ({"tag": "writing"}, "Clear filters"),
        ({"q": "weekly", "tag": "writing"}, "Clear search and filters"),
    ):
        assert part(ask(bob, **query), action="clear").text == text


def test_best_match_is_of_the_first_page_only(ask, bob, weekly):
    assert parts(ask(bob, q=WEEK), "best-match")
    assert not parts(ask(bob, q=WEEK, sort="newest", page="2", team="nothing"), "best-match")


def test_matcher_answers_only_visible_skills_under_the_filters(ask, bob, charlie, weekly):
    for page in (ask(charlie, q=WEEK), ask(None, q=WEEK), ask(bob, q=WEEK, tag="nothing")):
        assert not parts(page, "match")
        assert "Weekly report" not in page.text
    assert parts(ask(bob, q=WEEK, tag="report", kind="script"), "match")


def test_people_are_shown_public_skills_that_agents_are_not(ask, charlie, public):
    assert part(ask(charlie, q="a kind review of writing"), "match")["value"] == "docs/kind-review"


def test_sentence_that_no_skill_fits_says_so_above_its_hits(ask, bob, weekly, monkeypatch):
    monkeypatch.setattr("registry.matching.match.MIN_CONFIDENCE", 0.99)
    page = ask(bob, q="the report of my lost umbrella")
    assert parts(page, "no-match")
    assert not parts(page, "best-match")
    assert part(page, "skill")["value"] == "docs/weekly-report"


def test_nothing_fits_shows_near_matches_and_one_action(ask, bob, team, alice, monkeypatch):
    said = b"---\nname: forecast\ndescription: Gets the weather forecast of a city.\n---\nAsk.\n"
    publish_files({"SKILL.md": said}, team=team, user=alice)
    monkeypatch.setattr("registry.matching.match.MIN_CONFIDENCE", 0.99)
    page = ask(bob, q="天气预报怎么样")
    near = part(page, "near-matches").part("skill", value="docs/forecast")
    reasons = {reason.tags("mark")[0].text: reason.text for reason in near.parts("reason")}
    assert reasons["天气预报"].startswith("天气预报 → weather")  # the user's word is marked, not the skill's
    assert len(part(page, "empty").tags("a")) == 1
    filtered = ask(bob, q="天气预报怎么样", kind="tools")
    assert not parts(filtered, "near-matches")
    assert part(filtered, "empty").tags("a")[0]["href"].startswith("/skills/?q=%E5")


def test_feedback_from_the_catalog_returns_to_the_search(browse, bob, weekly):
    form = {"q": WEEK, "skill": "docs/weekly-report", "outcome": "wrong_skill"}
    sent = browse(bob).post("/skills/match/report/", form, follow=True)
    assert messages(sent) == ["success"]
    assert (sent.wsgi_request.path, sent.wsgi_request.GET["q"]) == (PAGE, WEEK)
    assert weekly.proposed_tests.count() == 1
    assert parts(sent, "feedback")
    assert not parts(browse(None).get(PAGE, {"q": WEEK}), "feedback")


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("", "/skills/"),
        ("?q=wrap+up%3F", "/skills/?q=wrap+up%3F"),
        ("?q=a&paths=x.py", "/skills/match/test/?q=a&paths=x.py"),
        ("?event=week.ended", "/skills/match/test/?event=week.ended"),
    ],
)
def test_former_match_page_redirects_with_its_query(browse, query, target):
    response = browse(None).get(f"/skills/match/{query}")
    assert (response.status_code, response.headers["Location"]) == (302, target)


def test_best_match_belongs_to_the_chosen_team(ask, bob, alice, weekly):
    other = Team.objects.create(slug="desk", name="Desk")
    for user in (alice, bob):
        Membership.objects.create(team=other, user=user, role=Role.OWNER)
    publish_files(prompt_files(), team=other, user=alice)
    match = part(ask(bob, q="kind review of my weekly report notes", team="desk"), "match")
    assert match["value"] == "desk/kind-review"


LISTED = ("kind", "team", "tag", "language")


def test_filters_that_people_understand_come_first(ask, bob, weekly, public):
    page = ask(bob)
    filters = page.context["filters"].make()
    assert [facet["name"] for facet in filters["facets"]] == list(LISTED)
    more = part(page, "more-filters")
    assert "open" not in more.attributes
    assert {"source", "profile"} <= {facet["name"] for facet in filters["more_facets"]}
    assert "open" in part(ask(bob, profile="agentskills"), "more-filters").attributes


@pytest.mark.parametrize("query", [{}, {"q": "sorts"}])
def test_language_counts_the_skills_that_it_lists(ask, bob, alice, team, query):
    for slug, text in (("cards", "Sorts cards."), ("coins", "Sorts coins."), ("papers", "Sorts 文件。")):
        publish_files(
            {"SKILL.md": f"---\nname: {slug}\ndescription: {text}\n---\nx".encode()}, team=team, user=alice
        )
    counts = {"zh": 1, "en": 2}
    for name, number in counts.items():
        page = ask(bob, language=name, **query)
        assert page.context["page"].paginator.count == number
        (facet,) = (each for each in page.context["filters"].make()["facets"] if each["name"] == "language")
        assert {choice["value"]: choice["count"] for choice in facet["first"]} == counts
    assert ask(bob, language="xx", **query).context["page"].paginator.count == 3


def test_full_page_of_a_search_stays_small(browse, alice, team, django_assert_max_num_queries):
    for number in range(22):
        tags = f"tags: [sort, tag-{number}, other-{number}]"
        head = f"---\nname: sort-{number}\ndescription: Sorts papers and cards.\n{tags}\n---\nx"
        version = publish_files({"SKILL.md": head.encode()}, team=team, user=alice)
        for status in ("succeeded", "failed") * 15:
            make_run(version, alice, team, status=status)
    client = browse(alice)
    client.get(PAGE, {"q": "sort"})
    with django_assert_max_num_queries(11):
        page = client.get(PAGE, {"q": "sort"})
    assert len(page.content) < 60_000
    assert len(parts(page, "success-rate")) == 20
    with django_assert_max_num_queries(19):
        assert parts(client.get(PAGE, {"q": "please sort my papers"}), "best-match")
