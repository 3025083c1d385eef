from datetime import timedelta
from pathlib import Path

import pytest

from registry.search.query import FACETS
from tests.api.conftest import SKILL_MD, assert_error

BOTH = ("docs/contract-glossary", "docs/summarise")
EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = [pytest.mark.row("P2", "P4"), pytest.mark.django_db]


def test_a_skill_is_listed_to_its_team_only(version, as_alice, as_bob, as_charlie, anonymous):
    for api in (as_alice, as_bob):
        assert [item["skill"] for item in api.get("skills").json()["items"]] == ["docs/summarise"]
    for api in (as_charlie, anonymous):
        assert api.get("skills").json() == {"items": [], "next_cursor": None}


def test_a_public_skill_is_everybodys_to_read(public_version, anonymous):
    document = anonymous.get("skills/docs/summarise").json()
    assert document["version"] == "1.0.0"
    assert document["digest"] == public_version.digest
    assert document["visibility"] == "public"
    assert document["updated_at"].endswith("Z")


def test_filters_narrow_the_list(version, publish, as_alice):
    other = publish({"SKILL.md": "---\nname: translate\ndescription: Translates.\ntags: [words]\n---\n"})
    labels = lambda query: {i["skill"] for i in as_alice.get(f"skills?{query}").json()["items"]}  # noqa: E731
    assert labels("") == {"docs/summarise", "docs/translate"}
    assert labels("tag=words") == {"docs/translate"}
    assert labels("team=docs&tag=summary") == {"docs/summarise"}
    assert labels("team=nobody") == set()
    assert labels(f"ids=docs/summarise,{other.skill.uid}") == {"docs/summarise", "docs/translate"}
    assert labels("ids=docs/nothing") == set()
    assert labels("q=translates") == {"docs/translate"}


def test_list_search_and_page_have_the_same_filters(version, publish, as_alice):
    text = (EXAMPLES / "contract-glossary" / "SKILL.md").read_text().replace("法律", "words")
    text = text.replace("---\nname:", "---\ncategory: language\ndomain: travel\nname:")
    publish({"SKILL.md": text, "references/terms.md": "# Docs\n"})
    values = {"team": "docs", "source": "upload", "tag": "words", "category": "language", "domain": "travel"}
    values |= {"type": "static", "profile": "apexbridge"}
    assert set(values) == set(FACETS)
    for name, value in values.items():
        left = {"docs/contract-glossary"} | ({"docs/summarise"} if name in ("team", "source") else set())
        listed = as_alice.get(f"skills?{name}={value}").json()["items"]
        found = as_alice.get(f"search?q=docs&{name}={value}").json()["results"]
        page = as_alice.client.get(f"/skills/?{name}={value}").content.decode()
        assert {each["skill"] for each in listed} == left, name
        assert {each["skill"] for each in found} <= left, name
        assert all((f"/skills/{each}/" in page) == (each in left) for each in BOTH), name
        assert as_alice.get(f"skills?q=docs&{name}=nothing").json()["items"] == [], name


@pytest.mark.parametrize("text", ["", "%20%0A", "%3F%21", "%F0%9F%98%80"])
def test_words_that_say_nothing_have_an_answer(version, as_alice, text):
    assert as_alice.get(f"search?q={text}&facets=1").json()["none"]
    assert as_alice.get(f"skills?q={text}").status_code == 200


def test_a_filter_misspelt_is_refused_instead_of_listing_everything(as_alice):
    document = assert_error(as_alice.get("skills?taem=docs"), 400, "QUERY_UNKNOWN")
    assert document["problems"][0]["path"] == "taem"


def test_a_filter_said_twice_is_refused_for_only_one_would_count(as_alice):
    document = assert_error(as_alice.get("skills?tag=a&tag=b"), 400, "QUERY_INVALID")
    assert [each["path"] for each in document["problems"]] == ["tag"]
    assert as_alice.get("agent/skills?paths=a.md&paths=b.md").status_code == 200


def test_pages_follow_one_another_without_a_gap(publish, as_alice):
    from registry.models import Skill
    from registry.usage import recording

    for name in "abcde":
        publish({"SKILL.md": f"---\nname: skill-{name}\ndescription: The {name}.\n---\n"})
    recording.record_use(Skill.objects.get(slug="skill-c"), "user:0", "run")
    seen, cursor = [], ""
    while cursor is not None:
        answer = as_alice.get(f"skills?limit=2&cursor={cursor}" if cursor else "skills?limit=2").json()
        seen += [item["slug"] for item in answer["items"]]
        cursor = answer["next_cursor"]
    assert seen[0] == "skill-c"
    assert sorted(seen) == [f"skill-{name}" for name in "abcde"]


def test_pages_of_a_search_follow_one_another(publish, as_alice):
    for name in "abcde":
        publish({"SKILL.md": f"---\nname: skill-{name}\ndescription: Common words, {name}.\n---\n"})
    first = as_alice.get("skills?q=common&limit=3").json()
    second = as_alice.get(f"skills?q=common&limit=3&cursor={first['next_cursor']}").json()
    slugs = [item["slug"] for item in first["items"] + second["items"]]
    assert sorted(slugs) == [f"skill-{name}" for name in "abcde"]
    assert second["next_cursor"] is None


def test_pages_of_a_search_repeat_nothing_when_something_better_is_published_in_between(publish, as_alice):
    for name in "abcde":
        publish({"SKILL.md": f"---\nname: skill-{name}\ndescription: Common words, {name}.\n---\n"})
    first = as_alice.get("skills?q=common&limit=3").json()
    publish({"SKILL.md": "---\nname: common\ndescription: Common.\n---\n"})
    second = as_alice.get(f"skills?q=common&limit=3&cursor={first['next_cursor']}").json()
    slugs = [item["slug"] for item in first["items"] + second["items"]]
    assert sorted(slugs) == [f"skill-{name}" for name in "abcde"]
    assert second["next_cursor"] is None


def test_pages_of_a_search_come_to_an_end_where_more_is_found_than_is_listed(publish, as_alice, monkeypatch):
    monkeypatch.setattr("registry.versions.api.skills.MAX_SEARCH_RESULTS", 3)
    for name in "abcde":
        publish({"SKILL.md": f"---\nname: skill-{name}\ndescription: Common words, {name}.\n---\n"})
    first = as_alice.get("skills?q=common&limit=2").json()
    second = as_alice.get(f"skills?q=common&limit=2&cursor={first['next_cursor']}").json()
    assert (len(first["items"]), len(second["items"]), second["next_cursor"]) == (2, 1, None)


@pytest.mark.parametrize("cursor", ["x", "AAAA", "WyJ4Il0", "W10", "eyJhIjoxfQ", "%00", "%FF", "[" * 900])
def test_a_cursor_of_no_list_is_refused(as_alice, cursor):
    assert as_alice.get(f"skills?cursor={cursor}").status_code == 400


def test_a_cursor_holds_for_its_own_filters_only(publish, as_alice):
    for name in "ab":
        publish({"SKILL.md": f"---\nname: skill-{name}\ndescription: The {name}.\n---\n"})
    cursor = as_alice.get("skills?limit=1").json()["next_cursor"]
    assert_error(as_alice.get(f"skills?team=docs&cursor={cursor}"), 400, "CURSOR_INVALID")
    assert_error(as_alice.get(f"runs?cursor={cursor}"), 400, "CURSOR_INVALID")


def test_a_maintainer_changes_who_may_see_a_skill(version, as_alice, as_bob, anonymous):
    assert_error(as_bob("PATCH", "skills/docs/summarise", {"visibility": "public"}), 403, "FORBIDDEN")
    answer = as_alice("PATCH", "skills/docs/summarise", {"visibility": "public"})
    assert answer.json()["visibility"] == "public"
    assert anonymous.get("skills/docs/summarise").status_code == 200


def test_a_change_on_top_of_anothers_change_is_refused(version, as_alice):
    etag = as_alice.get("skills/docs/summarise")["ETag"]
    change = {"visibility": "site"}
    first = as_alice("PATCH", "skills/docs/summarise", change, headers={"If-Match": etag})
    assert first.status_code == 200
    second = as_alice("PATCH", "skills/docs/summarise", change, headers={"If-Match": etag})
    assert_error(second, 412, "PRECONDITION_FAILED")
    third = as_alice("PATCH", "skills/docs/summarise", change, headers={"If-Match": first["ETag"]})
    assert third.status_code == 200


def test_a_stranger_changes_nothing(version, as_charlie, anonymous):
    assert_error(as_charlie("PATCH", "skills/docs/summarise", {"visibility": "public"}), 404, "NOT_FOUND")
    assert_error(
        anonymous("PATCH", "skills/docs/summarise", {"visibility": "public"}), 401, "SIGN_IN_REQUIRED"
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "FIELD_REQUIRED"),
        ({"visibility": "secret"}, "FIELD_INVALID"),
        ({"visibility": ["public"]}, "FIELD_INVALID"),
        ({"visibility": "public", "team": "x"}, "FIELD_UNKNOWN"),
        ([], "FIELD_INVALID"),
        ("null", "FIELD_INVALID"),
    ],
)
def test_a_change_of_the_wrong_form_is_refused_with_its_place(version, as_alice, body, code):
    assert_error(as_alice("PATCH", "skills/docs/summarise", body), 422, code)


@pytest.mark.row("D9")
def test_a_use_counts_once_a_minute(version, as_bob):
    first = as_bob.post("usage", {"skill": "docs/summarise"}).json()
    again = as_bob.post("usage", {"skill": "docs/summarise", "kind": "install"}).json()
    assert (first["counted"], again["counted"]) == (True, False)
    usage = as_bob.get("skills/docs/summarise/usage").json()
    assert (usage["count"], usage["score"]) == (1, 1.0)


def test_a_use_of_an_unseen_skill_is_not_found(version, as_charlie, anonymous):
    assert_error(as_charlie.post("usage", {"skill": "docs/summarise"}), 404, "NOT_FOUND")
    assert_error(anonymous.post("usage", {"skill": "docs/summarise"}), 401, "SIGN_IN_REQUIRED")


def test_search_finds_what_the_actor_may_see(version, as_bob, as_charlie):
    found = as_bob.get("search?q=summ").json()
    assert [hit["skill"] for hit in found["results"]] == ["docs/summarise"]
    assert as_charlie.get("search?q=summ").json() == {"query": "summ", "none": True, "results": []}
    assert_error(as_bob.get("search"), 400, "QUERY_INVALID")


def test_me_tells_teams_and_scopes(team, bob, as_bob, token_api, anonymous):
    assert as_bob.get("me").json()["teams"] == [{"team": "docs", "name": "Docs", "role": "member"}]
    narrow = token_api(bob, "run").get("me").json()
    assert narrow["token"]["scopes"] == ["run"]
    assert_error(anonymous.get("me"), 401, "SIGN_IN_REQUIRED")


@pytest.mark.row("D11")
def test_changes_name_no_skill_for_people_only_to_tokens(publish, as_alice, token_api, alice, monkeypatch):
    monkeypatch.setattr("registry.search.api.search.SETTLE_TIME", timedelta(0))
    text = SKILL_MD.replace("name: summarise", "name: by-hand\ndisable-model-invocation: true")
    publish({"SKILL.md": text})
    publish()
    found = {
        name: [item["slug"] for item in api.get("changes").json()["items"]]
        for name, api in (("person", as_alice), ("token", token_api(alice)))
    }
    assert found == {"person": ["by-hand", "summarise"], "token": ["summarise"]}


def test_changes_tell_each_skill_once(publish, as_bob, as_charlie, monkeypatch):
    monkeypatch.setattr("registry.search.api.search.SETTLE_TIME", timedelta(0))
    publish()
    publish({"SKILL.md": "---\nname: other\ndescription: Another.\n---\n"}, visibility="site")
    first = as_bob.get("changes?limit=1").json()
    assert ([i["slug"] for i in first["items"]], first["has_more"]) == (["summarise"], True)
    second = as_bob.get(f"changes?since={first['next_since']}").json()
    assert ([i["slug"] for i in second["items"]], second["has_more"]) == (["other"], False)
    third = as_bob.get(f"changes?since={second['next_since']}").json()
    assert third["items"] == []
    publish({"SKILL.md": "---\nname: other\ndescription: Another, changed.\n---\n"})
    assert [i["slug"] for i in as_bob.get(f"changes?since={third['next_since']}").json()["items"]] == [
        "other"
    ]
    assert [i["slug"] for i in as_charlie.get("changes").json()["items"]] == ["other"]


def test_every_code_can_be_looked_up(anonymous):
    items = anonymous.get("errors").json()["items"]
    assert {"NOT_FOUND", "VERSION_EXISTS", "JSON_INVALID"} <= {item["code"] for item in items}
    assert anonymous.get("errors/NOT_FOUND").json()["http_status"] == 404
    assert_error(anonymous.get("errors/NOTHING"), 404, "NOT_FOUND")
