"""The catalog and the first page: what Alice, Bob, Charlie and a stranger find there."""

from __future__ import annotations

import pytest

from registry.usage import record_use
from tests.samples import prompt_files, publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]
EVERYTHING = (
    "/",
    "/skills/",
    "/skills/?sort=newest",
    "/skills/?q=report",
    "/skills/?tag=report",
    "/skills/?team=docs",
)


@pytest.mark.parametrize("address", EVERYTHING)
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
    text = browse(bob).get("/skills/").text
    for part in (
        "1.2.0",
        private.latest.created_at.date().isoformat(),
        "docs/weekly-report",
        "1 use",
        "周报",
    ):
        assert part in text


def test_filters_count_what_the_reader_sees_and_can_be_taken_away(browse, bob, charlie, private, public):
    tags = browse(bob).get("/skills/").context["facets"]["tag"]
    assert {choice.value: choice.count for choice in tags} == {"writing": 2, "report": 1, "周报": 1}
    tags = browse(charlie).get("/skills/").context["facets"]["tag"]
    assert {choice.value: choice.count for choice in tags} == {"writing": 1}
    text = browse(bob).get("/skills/?tag=report&q=notes").text
    assert 'href="?q=notes"' in text


def test_used_skills_come_first_and_newest_can_be_asked_for(browse, bob, private, public):
    record_use(private, "user:1", "run")
    names = lambda address: [skill.slug for skill in browse(bob).get(address).context["page"]]  # noqa: E731
    assert names("/skills/") == ["weekly-report", "kind-review"]
    assert names("/skills/?sort=newest") == ["kind-review", "weekly-report"]


def test_pages_are_cut_and_linked(browse, alice, team):
    for number in range(23):
        files = {"SKILL.md": prompt_files()["SKILL.md"].replace(b"kind-review", b"review-%d" % number)}
        publish_files(files, team=team, user=alice)
    first = browse(alice).get("/skills/?tag=writing")
    assert len(first.context["page"].object_list) == 20
    assert 'rel="next" href="?tag=writing&amp;page=2"' in first.text
    second = browse(alice).get("/skills/?tag=writing&page=2")
    seen = {skill.pk for page in (first, second) for skill in page.context["page"]}
    assert len(seen) == 23


@pytest.mark.parametrize(
    "query",
    ["page=x", "page=-1", "sort=odd", "q=%00", "q=%ED%A0%80", "tag=%00", "q=" + "a" * 2000, "type='--"],
)
def test_no_address_breaks_it(browse, public, query):
    assert browse(None).get(f"/skills/?{query}").status_code == 200


def test_empty_pages_say_what_to_do(browse, charlie, alice):
    assert "Sign in" in browse(None).get("/").text
    assert "Publish a skill" in browse(alice).get("/").text
    assert "Try fewer or other words" in browse(charlie).get("/skills/?q=zzz").text


def test_the_first_page_speaks_chinese_to_whoever_asks(browse, public):
    page = browse(None, "zh-CN,zh;q=0.9").get("/")
    assert '<html lang="zh-hans"' in page.text
    assert "技能" in page.text


@pytest.fixture
def for_agents(team, alice):
    """docs/kind-review that says user-invocable: false."""
    said = prompt_files()["SKILL.md"].replace(b"tags:", b"user-invocable: false\ntags:")
    return publish_files({"SKILL.md": said}, team=team, user=alice, visibility="public").skill


@pytest.mark.parametrize("address", ["/", "/skills/", "/skills/?q=review", "/skills/?sort=newest&team=docs"])
def test_what_is_not_for_people_is_offered_to_none(browse, alice, charlie, for_agents, address):
    for person in (alice, charlie, None):
        assert "kind-review" not in browse(person).get(address).text


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
