"""The catalog and the first page: what Alice, Bob, Charlie and a stranger find there."""

from __future__ import annotations

import pytest

from portal.presenters.skill.kind import kind_of
from registry.models import Membership, Role, Team
from registry.search.query import FACETS
from registry.usage.recording import record_use
from tests.factories.runs import make_run
from tests.factories.skills import prompt_files, publish_files
from tests.pages import actions, is_chinese, parsed, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]
EVERYTHING = (
    "/",
    "/skills/",
    "/skills/?sort=newest",
    "/skills/?q=report",
    "/skills/?tag=report",
    "/skills/?team=docs",
)


@pytest.mark.parametrize("address", EVERYTHING[1:])
def test_the_team_sees_its_private_skill(browse, bob, private, address):
    assert "Weekly report" in browse(bob).get(address).text


@pytest.mark.parametrize("address", EVERYTHING)
def test_others_see_nothing_of_it(browse, charlie, private, address):
    for person in (charlie, None):
        text = browse(person).get(address).text
        assert "Weekly report" not in text
        assert "weekly-report" not in text


def test_a_stranger_sees_public_skills(browse, public):
    page = browse(None).get("/skills/")
    assert "docs/kind-review" in page.text
    assert page.context["page"].paginator.count == 1


@pytest.mark.parametrize("words", ["review", "温和", "writing", "kind-review"])
def test_words_of_name_description_and_tags_find_a_skill(browse, public, words):
    assert "docs/kind-review" in browse(None).get("/skills/", {"q": words}).text


def test_a_row_says_version_date_team_type_summary_and_uses(browse, bob, private):
    record_use(private, "user:1", "run")
    row = part(browse(bob).get("/skills/"), "skill", value="docs/weekly-report")
    for fact in ("1.2.0", private.latest.created_at.date().isoformat(), "docs/weekly-report", "周报"):
        assert fact in row
    assert row.part("uses")["value"] == "1"


def counts(page, name):
    """A filter's values with their counts, as the page has them."""
    filters = page.context["filters"].make()
    facet = next(each for each in filters["facets"] + filters["more_facets"] if each["name"] == name)
    return {choice["value"]: choice["count"] for choice in (*facet["first"], *facet["rest"])}


def test_filters_count_what_the_reader_sees_and_can_be_taken_away(browse, bob, charlie, private, public):
    assert counts(browse(bob).get("/skills/"), "tag") == {"writing": 2, "report": 1, "周报": 1}
    assert counts(browse(bob).get("/skills/"), "kind") == {"prompt": 1, "script": 1}
    assert counts(browse(charlie).get("/skills/"), "tag") == {"writing": 1}
    text = browse(bob).get("/skills/?tag=report&q=notes").text
    assert 'href="?q=notes"' in text


UNLISTED = {"type": "static", "source": "bundled", "profile": "agentskills"}  # filters of links only


@pytest.mark.parametrize("name", list(FACETS))
def test_every_filter_of_the_api_is_one_of_the_page(browse, api_answer, bob, catalog_of_kinds, name):
    value = UNLISTED.get(name) or next(iter(counts(browse(bob).get("/skills/"), name)))
    narrowed = browse(bob).get("/skills/", {name: value, "q": "sorts"})
    found = [str(skill) for skill in narrowed.context["page"]]
    assert found == [row["skill"] for row in api_answer(bob, {name: value, "q": "sorts"})["results"]]
    assert 0 < len(found) < 3
    assert f"<bdi>{value}</bdi>" in narrowed.text
    assert f'<input type="hidden" name="{name}" value="{value}">' in narrowed.text


@pytest.mark.parametrize("query", [{}, {"q": "sorts"}])
def test_each_kind_counts_the_skills_that_it_lists(browse, bob, catalog_of_kinds, query):
    kinds = counts(browse(bob).get("/skills/", query), "kind")
    assert kinds == {"prompt": 2, "reference": 1}
    for name, number in kinds.items():
        page = browse(bob).get("/skills/", {"kind": name, **query})
        assert {kind_of(skill).name for skill in page.context["listed"]} == {name}
        assert page.context["page"].paginator.count == number
        assert counts(page, "kind") == kinds


def test_a_search_without_hits_shows_skills_of_the_same_meaning(browse, bob, team, alice):
    said = b"---\nname: forecast\ndescription: Gets the weather forecast of a city.\n---\nAsk.\n"
    publish_files({"SKILL.md": said}, team=team, user=alice)
    page = browse(bob).get("/skills/", {"q": "天气预报"})
    assert part(page, "hits")["value"] == "0"
    assert part(part(page, "best-match"), "match")["value"] == "docs/forecast"
    assert not parts(browse(bob).get("/skills/", {"q": "天气预报", "kind": "tools"}), "match")
    assert not parts(browse(bob).get("/skills/", {"q": "forecast"}), "best-match")


@pytest.fixture
def api_answer(browse):
    return lambda user, query: browse(user).get("/api/v1/search", query).json()


@pytest.fixture
def catalog_of_kinds(team, alice):
    """Three skills that sort; one differs from the others in all that the catalog counts."""
    head = "name: {slug}\ndescription: Sorts {slug}.\n"
    more = (
        "tags: [order]\ntype: static\ncategory: desk\ndomain: office\nversion: 1.0.0\ncapabilities: [sort]\n"
    )
    more += (
        "triggers: {phrases: [sort my papers]}\ninput_schema: {type: object}\noutput_schema: {type: object}\n"
    )
    more += "security: {timeout_ms: 1000, network: none, filesystem: none}\nresources: {}\n"
    other = Team.objects.create(slug="desk", name="Desk")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    files = {"SKILL.md": f"---\n{head.format(slug='papers')}{more}---\n# Papers\n".encode()}
    publish_files(files, team=other, user=alice, source="bundled", visibility="site")
    for slug in ("cards", "coins"):
        files = {"SKILL.md": f"---\n{head.format(slug=slug)}---\n# {slug}\n".encode()}
        publish_files(files, team=team, user=alice)


def test_many_values_of_a_filter_fold_away(browse, alice, team):
    tags = ", ".join(f"tag-{number}" for number in range(9))
    files = {"SKILL.md": f"---\nname: many\ndescription: x\ntags: [{tags}]\n---\nx".encode()}
    publish_files(files, team=team, user=alice)
    text = browse(alice).get("/skills/").text
    assert part(text, "more-values")["value"] == "3"
    assert all(f"tag-{number}" in text for number in range(9))


def test_a_search_says_which_words_found_a_skill_and_how_its_runs_ended(browse, bob, private, team):
    record_use(private, "user:1", "run")
    make_run(private.latest, bob, team)
    make_run(private.latest, bob, team, status="failed", failure_code="TIMEOUT")
    row = part(browse(bob).get("/skills/", {"q": "report notes"}), "skill")
    reasons = {mark.text: reason["value"] for reason in row.parts("reason") for mark in reason.tags("mark")}
    assert reasons["notes"] == "description"
    assert float(row.part("success-rate")["value"]) == 50
    assert row.part("uses")["value"] == "1"  # by which the catalog is ordered


def test_row_without_runs_shows_uses_with_their_score(browse, bob, private):
    record_use(private, "user:1", "load")
    row = part(browse(bob).get("/skills/"), "skill")
    assert (row.part("uses")["value"], row.part("score")["value"]) == ("1", "1.0")


def test_row_shows_the_success_rate_of_runs_without_counted_uses(browse, bob, private, team):
    make_run(private.latest, bob, team)
    row = part(browse(bob).get("/skills/"), "skill")
    assert row.part("success-rate")["value"] == "100"
    assert not row.parts("uses")


def test_what_strangers_may_not_know_of_runs_is_not_in_the_rate(browse, alice, charlie, public, team):
    record_use(public, "user:1", "run")
    make_run(public.latest, alice, team)
    row = part(browse(charlie).get("/skills/"), "skill")
    assert row.parts("uses")
    assert not row.parts("success-rate")


@pytest.mark.parametrize("wrong", ["weeklly", "Weeky"])
def test_a_slip_says_what_was_looked_for_instead(browse, bob, charlie, private, wrong):
    page = browse(bob).get("/skills/", {"q": f"{wrong} notes"})
    assert [found.text for found in part(page, "corrected").tags("strong")] == ["Weekly notes"]
    (slip,) = [reason for reason in parts(page, "reason") if reason.tags("mark")[0].text == wrong]
    assert "→ Weekly" in slip
    assert not parts(browse(bob).get("/skills/", {"q": "weekly"}), "corrected")
    assert not parts(browse(charlie).get("/skills/", {"q": wrong}), "corrected")


@pytest.mark.parametrize("words", ["周报", "温和", "文字"])
def test_two_chinese_characters_find_every_skill_that_has_them(browse, bob, private, public, words):
    page = browse(bob).get("/skills/", {"q": words})
    assert page.context["page"].paginator.count == 1


def test_used_skills_come_first_and_newest_can_be_asked_for(browse, bob, private, public):
    record_use(private, "user:1", "run")
    names = lambda address: [skill.slug for skill in browse(bob).get(address).context["listed"]]  # noqa: E731
    assert names("/skills/") == ["weekly-report", "kind-review"]
    assert names("/skills/?sort=newest") == ["kind-review", "weekly-report"]


def test_a_filter_of_more_than_is_listed_leaves_as_many_as_it_counts(browse, alice, team, monkeypatch):
    monkeypatch.setattr("portal.pages.catalog.views.MAX_HITS", 2)
    for name in "abc":
        files = {"SKILL.md": f"---\nname: note-{name}\ndescription: A note.\ntags: [kept]\n---\n".encode()}
        publish_files(files, team=team, user=alice)
    page = browse(alice).get("/skills/?q=note")
    assert '<span class="cut"><bdi>kept</bdi></span><span class="count">3</span>' in page.text
    hits = part(browse(alice).get("/skills/?q=note&tag=kept"), "hits")
    assert (hits["value"], hits["total"]) == ("2", "3")
    assert "2" in hits
    assert "3" in hits


def test_pages_are_cut_and_linked(browse, alice, team):
    for number in range(23):
        files = {"SKILL.md": prompt_files()["SKILL.md"].replace(b"kind-review", b"review-%d" % number)}
        publish_files(files, team=team, user=alice)
    first = browse(alice).get("/skills/?tag=writing")
    assert len(first.context["listed"]) == 20
    assert 'rel="next" href="?tag=writing&amp;page=2"' in first.text
    second = browse(alice).get("/skills/?tag=writing&page=2")
    seen = {skill.pk for page in (first, second) for skill in page.context["listed"]}
    assert len(seen) == 23


@pytest.mark.parametrize(
    "query",
    ["page=x", "page=-1", "sort=odd", "q=%00", "q=%ED%A0%80", "tag=%00", "q=" + "a" * 2000, "type='--"],
)
def test_no_address_breaks_it(browse, public, query):
    assert browse(None).get(f"/skills/?{query}").status_code == 200


def test_empty_pages_offer_the_next_action(browse, charlie, alice):
    assert part(browse(None).get("/"), "empty").select("a", href="/sign-in/")
    assert "publish" in actions(browse(alice).get("/"))
    assert part(browse(charlie).get("/skills/?q=zzz"), "empty")["state"] == "filtered"


def test_the_first_page_speaks_chinese_to_whoever_asks(browse, public):
    page = browse(None, "zh-CN,zh;q=0.9").get("/")
    assert '<html lang="zh-hans"' in page.text
    assert all(is_chinese(heading.text) for heading in parsed(page).tags("h1", "h2"))


@pytest.fixture
def for_agents(team, alice):
    """docs/kind-review that says user-invocable: false."""
    said = prompt_files()["SKILL.md"].replace(b"tags:", b"user-invocable: false\ntags:")
    return publish_files({"SKILL.md": said}, team=team, user=alice, visibility="public").skill


@pytest.mark.parametrize("address", ["/", "/skills/", "/skills/?q=review", "/skills/?sort=newest&team=docs"])
@pytest.mark.row("D11")
def test_what_is_not_for_people_is_offered_to_none(browse, alice, charlie, for_agents, address):
    for person in (charlie, None):
        assert "kind-review" not in browse(person).get(address).text
    assert "/kind-review/" not in browse(alice).get(address).text


@pytest.mark.row("D11")
def test_what_is_not_for_people_has_its_page_without_a_button_and_agents_find_it(browse, alice, for_agents):
    page = browse(alice).get("/skills/docs/kind-review/")
    assert page.status_code == 200
    assert 'class="button primary"' not in page.text
    found = browse(None).get("/api/v1/search", {"q": "kind-review"}).json()
    assert [row["skill"] for row in found["results"]] == ["docs/kind-review"]


def test_a_version_that_is_for_people_again_is_offered_again(browse, alice, team, for_agents):
    files = {"SKILL.md": prompt_files()["SKILL.md"] + b"\nMore.\n"}
    publish_files(files, team=team, user=alice)
    assert "kind-review" in browse(alice).get("/skills/").text
