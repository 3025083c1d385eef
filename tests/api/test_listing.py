from __future__ import annotations

import json
from io import StringIO
from xml.etree import ElementTree

import pytest
from django.core.management import call_command

from registry.models import Skill
from tests.api.conftest import assert_error
from tests.checks import not_none
from tests.factories.skills import publish_files
from tests.pages import part, parts
from tests.ways import caller

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7")]


@pytest.mark.row("E2")
def test_a_listing_comes_in_four_forms(version, as_bob):
    told = as_bob.get("listing").json()
    line = "- summarise: Summarises a document in a few sentences."
    assert (told["budget"], told["stage"], told["lines"]) == (8000, "full", line)
    assert told["skills"][0]["reason"] == "new"
    lines = as_bob.get("listing?format=lines")
    assert (lines.content.decode(), lines["Content-Type"]) == (line, "text/plain; charset=utf-8")
    assert as_bob.get("listing?format=lines", headers={"If-None-Match": lines["ETag"]}).status_code == 304
    (skill,) = ElementTree.fromstring(as_bob.get("listing?format=xml").content)
    assert not_none(not_none(skill.find("location")).text).endswith(
        "/docs/summarise/versions/1.0.0/files/SKILL.md"
    )
    section = as_bob.get("listing?format=section").content.decode()
    assert section.startswith("## Skills")
    assert line in section
    small = as_bob.get("listing?context_tokens=1000&limit=1").json()
    assert (small["budget"], small["stage"], small["lines"]) == (
        40,
        "shared",
        "- summarise: Summarises a document in a…",
    )


@pytest.mark.row("E1", "P8")
def test_agents_get_display_names_and_load_by_them(publish, as_bob):
    publish(
        {"SKILL.md": "---\nname: zhoubao\ndisplayName: 周报\ndescription: 写周报。\nversion: 1.0.0\n---\n"}
    )
    (listed,) = as_bob.get("listing").json()["skills"]
    assert (listed["name"], listed["display_name"]) == ("zhoubao", "周报")
    (row,) = as_bob.get("agent/skills").json()["skills"]
    assert (row["id"], row["name"]) == ("docs/zhoubao", "周报")
    for name in (row["id"], row["name"]):
        loaded = as_bob.get(f"agent/skills/load?name={name}").json()
        assert (loaded["id"], loaded["name"]) == (row["id"], "周报")


def test_what_is_asked_wrongly_is_refused(as_bob):
    for query in ("context_tokens=-1", "context_tokens=x", "format=yaml", "limit=0", "limit=1001"):
        assert_error(as_bob.get(f"listing?{query}"), 400, "QUERY_INVALID")
    assert_error(as_bob.get("listing?tokens=5"), 400, "QUERY_UNKNOWN")
    many = "paths=" + ",".join(["a"] * 1001)
    for asked in ("listing", "agent/skills"):
        assert_error(as_bob.get(f"{asked}?{many}"), 400, "QUERY_INVALID")


@pytest.mark.row("D8")
def test_files_are_named_by_commas_or_one_by_one(version, as_bob):
    Skill.objects.update(paths=["*.md"])
    for query, count in (("", 0), ("?paths=a.py,b.md", 1), ("?paths=a.py&paths=b.md", 1), ("?paths=a.py", 0)):
        assert len(as_bob.get(f"listing{query}").json()["skills"]) == count, query
        assert len(as_bob.get(f"agent/skills{query}").json()["skills"]) == count, query


@pytest.mark.row("E1")
def test_an_agent_lists_and_loads(version, as_bob, token_api, bob):
    (row,) = as_bob.get("agent/skills").json()["skills"]
    assert set(row) == {"id", "name", "description", "allowedTools"}
    loaded = token_api(bob, "read").get(f"agent/skills/load?name={row['name']}").json()
    assert loaded["content"].startswith("---\nname: summarise\n")
    assert as_bob.get(loaded["location"].partition("/api/v1/")[2]).getvalue() == loaded["content"].encode()
    assert Skill.objects.get().usage_count == 1
    assert (
        assert_error(as_bob.get("agent/skills/load"), 422, "LOAD_NAME_MISSING")["message"] == "Missing name"
    )
    message = assert_error(as_bob.get("agent/skills/load?name=x"), 404, "LOAD_NOT_FOUND")["message"]
    assert message == "Skill not found: x"
    assert_error(token_api(bob, "run").get("agent/skills/load?name=x"), 403, "TOKEN_SCOPE_MISSING")


@pytest.mark.row("P2")
def test_a_stranger_is_told_of_nothing(version, as_charlie, anonymous):
    for api in (as_charlie, anonymous):
        assert api.get("listing?format=lines").content == b""
        assert api.get("agent/skills").json() == {"skills": [], "remaining": 0}
        for name in ("summarise", "docs/summarise", version.skill.uid):
            assert_error(api.get(f"agent/skills/load?name={name}"), 404, "LOAD_NOT_FOUND")


def test_a_team_subscribes_and_its_agents_are_offered_more(public_version, as_charlie, as_bob, anonymous):
    assert as_charlie.get("agent/skills").json()["skills"] == []
    told = as_charlie.post("teams/elsewhere/subscriptions", {"team": "docs"}).json()
    assert [row["team"] for row in told["subscriptions"]] == ["docs"]
    assert as_charlie.get("teams/elsewhere/subscriptions").json() == told
    assert [row["name"] for row in as_charlie.get("agent/skills").json()["skills"]] == ["summarise"]
    assert_error(as_bob.get("teams/elsewhere/subscriptions"), 404, "NOT_FOUND")
    assert_error(as_charlie.post("teams/docs/subscriptions", {"team": "elsewhere"}), 403, "FORBIDDEN")
    assert_error(anonymous.get("teams/docs/subscriptions"), 401, "SIGN_IN_REQUIRED")
    assert as_charlie("DELETE", "teams/elsewhere/subscriptions/docs").status_code == 204
    assert_error(as_charlie("DELETE", "teams/elsewhere/subscriptions/docs"), 404, "NOT_FOUND")
    assert as_charlie.get("agent/skills").json()["skills"] == []


def test_an_administrator_bundles_a_skill_for_everybody(
    public_version, administrator, anonymous, as_alice, token_api
):
    from tests.api.conftest import session_api

    root = session_api(administrator)
    assert_error(as_alice.post("skills/docs/summarise/bundling"), 403, "FORBIDDEN")
    assert_error(token_api(administrator).post("skills/docs/summarise/bundling"), 403, "FORBIDDEN")
    assert root.post("skills/docs/summarise/bundling").status_code == 200
    assert [row["reason"] for row in anonymous.get("listing").json()["skills"]] == ["bundled"]
    assert root("DELETE", "skills/docs/summarise/bundling").status_code == 200
    assert anonymous.get("listing").json()["skills"] == []


@pytest.mark.row("D7", "D8")
def test_bundled_skill_keeps_its_text_where_others_share_the_rest(team, alice, client, as_alice):
    for slug in ("bundled", "first", "second"):
        head = f"---\nname: {slug}\ndescription: {slug} {'words ' * 33}\nversion: 1.0.0\n---\n# {slug}\n"
        publish_files({"SKILL.md": head.encode()}, team=team, user=alice)
    Skill.objects.filter(slug="bundled").update(is_bundled=True)
    query = "context_tokens=10000"  # 400 columns
    document = as_alice.get(f"listing?{query}").json()
    shown = {"bundled": "none", "first": "share", "second": "share"}
    assert document["stage"] == "shared"
    assert {row["name"]: row["truncation"] for row in document["skills"]} == shown
    client.force_login(alice)
    page = client.get(f"/skills/listing/?{query}")
    assert part(page, "stage")["value"] == "shared"
    assert {row["value"].rpartition("/")[2]: row["cut"] for row in parts(page, "listed")} == shown
    out = StringIO()
    call_command("listing", "--context-tokens", "10000", "--as", "alice", "--json", stdout=out)
    for told in (json.loads(out.getvalue()), caller("command", client)("GET", f"listing?{query}")):
        assert {row["name"]: row["truncation"] for row in told["skills"]} == shown
