"""``skills_list`` and ``skills_load``: whom an agent may load, by which name, and what it gets."""

from __future__ import annotations

import pytest

from registry.canonical.pins import set_canonical
from registry.identity import teams
from registry.identity.actors import ANONYMOUS, Actor
from registry.listing import load as loading
from registry.listing.list_skills import list_skills
from registry.models import Skill, Team, Use
from registry.packages.package import PackageFile
from registry.packages.problems import Refusal
from registry.subscriptions import trusted_teams
from registry.versions.lifecycle import yank as publishing_yank

pytestmark = [pytest.mark.django_db, pytest.mark.row("E1")]


@pytest.fixture
def load(alice):
    """The label of what is loaded by a name, or the code of the refusal."""

    def do(name, actor=None):
        try:
            return str(loading.skills_load(name, actor or Actor(user=alice)).version)
        except Refusal as refused:
            return refused.code

    return do


def test_the_list_says_id_name_description_and_allowed_tools(publish_skill, alice):
    publish_skill(
        "report",
        description="Writes\na report.",
        when_to_use="On Fridays.",
        allowed_tools=("Read", "Bash(git:*)"),
    )
    publish_skill("styles", paths=("*.css",))
    told = loading.loadable_document(loading.skills_list(Actor(user=alice)))
    assert told == {
        "skills": [
            {
                "id": "docs/report",
                "name": "report",
                "description": "Writes a report. - On Fridays.",
                "allowedTools": ["Read", "Bash(git:*)"],
            }
        ],
        "remaining": 0,
    }
    both = loading.skills_list(Actor(user=alice), paths=("a.css",))
    assert {each.name for each in both.skills} == {"report", "styles"}
    assert loading.skills_list(Actor(user=alice), paths=("a.css",), limit=1).more == 1


def test_tools_are_told_alike_where_they_are_listed_and_loaded(publish_skill, alice):
    publish_skill("report", allowed_tools=("Read\u202e", "Bash(git\nlog:*)"))
    listed = loading.loadable_document(loading.skills_list(Actor(user=alice)))["skills"][0]
    loaded = loading.loaded_document(loading.skills_load("report", Actor(user=alice)))
    assert listed["allowedTools"] == loaded["allowedTools"] == ["Read", "Bash(git log:*)"]


def test_no_description_fills_the_prompt_of_who_lists(publish_skill, alice):
    publish_skill("flood", description="x" * 60_000)
    (told,) = loading.loadable_document(loading.skills_list(Actor(user=alice)))["skills"]
    assert told["description"] == "x" * 1023 + "…"


def test_a_skill_is_loaded_whole_with_where_its_files_are(publish_skill, alice, settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example"
    version = publish_skill("report", body="# Report\n", files=(PackageFile("scripts/a b.py", b"print()"),))
    told = loading.loaded_document(loading.skills_load("report", Actor(user=alice)))
    base = "https://skills.example/api/v1/skills/docs/report/versions/1.0.0/"
    assert told["content"].endswith("\n# Report\n")
    assert (told["id"], told["version"], told["digest"]) == ("docs/report", "1.0.0", version.digest)
    assert (told["base"], told["location"]) == (f"{base}files/", f"{base}files/SKILL.md")
    assert told["archive"] == f"{base}archive"
    assert {file["url"] for file in told["files"]} == {
        f"{base}files/SKILL.md",
        f"{base}files/scripts/a%20b.py",
    }
    assert Use.objects.get().last_kind == "load"
    assert Skill.objects.get().usage_count == 1


def test_the_id_comes_before_the_name_and_the_name_before_a_part_of_it(publish_skill, load):
    uid = publish_skill("exact", name="Weekly Report").skill.uid
    publish_skill("weekly", name="exact")
    publish_skill("longer-weekly-report", name="Zebra")
    assert load("docs/weekly") == "docs/weekly@1.0.0"
    assert load(uid) == "docs/exact@1.0.0"
    assert load("exact") == "docs/exact@1.0.0"
    assert load("Weekly Report") == "docs/exact@1.0.0"
    assert load("weekly") == "docs/weekly@1.0.0"
    assert load("ZEBR") == "docs/longer-weekly-report@1.0.0"
    assert load("LONGER-week") == "docs/longer-weekly-report@1.0.0"
    assert load(" exact ") == "docs/exact@1.0.0"


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_empty_name_is_refused_as_missing(name, load, alice):
    assert load(name) == "LOAD_NAME_MISSING"
    with pytest.raises(Refusal, match=r"^Missing name$"):
        loading.find_loadable(name, Actor(user=alice))


@pytest.mark.parametrize(
    "name", ["x", "docs/x", "x/y", "a/b/c", "_canonical_x", "/", "@", "%", "x" * 5000, "\u202e"]
)
def test_an_unknown_skill_is_refused_as_not_found(publish_skill, name, load, alice):
    publish_skill("report")
    assert load(name) == "LOAD_NOT_FOUND"
    with pytest.raises(Refusal, match=r"^Skill not found: "):
        loading.find_loadable(name, Actor(user=alice))


@pytest.mark.row("D11")
def test_what_models_may_not_invoke_is_found_by_no_name(publish_skill, load):
    skill = publish_skill("quiet", name="Quiet one", disable_model_invocation=True).skill
    for name in ("quiet", "docs/quiet", "docs/quiet@1.0.0", skill.uid, "Quiet one", "qui"):
        assert load(name) == "LOAD_NOT_FOUND", name


@pytest.mark.row("P1")
def test_a_yanked_version_is_loaded_by_its_number_alone(publish_skill, load, alice):
    version = publish_skill("report")
    publishing_yank.yank(version, Actor(user=alice), reason="broken")
    assert load("report") == load("docs/report") == "LOAD_NOT_FOUND"
    assert load("docs/report@1.0.0") == "docs/report@1.0.0"


@pytest.mark.row("P2")
def test_what_is_deprecated_or_yanked_says_so_where_it_is_loaded(publish_skill, alice):
    owner, version, better = Actor(user=alice), publish_skill("report"), publish_skill("better")

    def notices(name):
        return [each["code"] for each in loading.loaded_document(loading.skills_load(name, owner))["notices"]]

    assert notices("report") == []
    publishing_yank.deprecate_skill(version.skill, owner, reason="Old.", successor=better.skill)
    assert notices("report") == ["SKILL_DEPRECATED"]
    publishing_yank.yank(version, owner, reason="Broken.")
    assert notices("docs/report@1.0.0") == ["VERSION_YANKED", "SKILL_DEPRECATED"]


def test_another_teams_skill_is_loaded_by_its_full_name_if_it_may_be_seen(publish_skill, load, charlie):
    mine = Actor(user=charlie)
    publish_skill("shown", visibility="site")
    publish_skill("hidden")
    publish_skill("inner", visibility="public", type="internal")
    assert load("docs/shown", mine) == "docs/shown@1.0.0"
    assert load("shown", mine) == load("docs/shown", ANONYMOUS) == "LOAD_NOT_FOUND"
    for label in ("docs/hidden", "docs/inner", "hidden", "inner"):
        assert load(label, mine) == "LOAD_NOT_FOUND", label
    trusted_teams.subscribe(Team.objects.get(slug="elsewhere"), "docs", mine)
    assert load("shown", mine) == "docs/shown@1.0.0"


def test_a_canonical_skill_is_loaded_as_what_was_pinned(publish_skill, load, administrator, alice, charlie):
    pinned = publish_skill("report", visibility="public")
    set_canonical("report", pinned, Actor(user=administrator), reason="good")
    publish_skill("report", version="2.0.0", visibility="public")
    assert load("_canonical_report") == load("report", Actor(user=charlie)) == "docs/report@1.0.0"
    assert load("report") == load("docs/report", Actor(user=charlie)) == "docs/report@2.0.0"
    (row,) = loading.skills_list(Actor(user=charlie)).skills
    assert (row.id, row.name) == ("_canonical_report", "report")


def test_every_name_of_a_listing_loads_that_very_skill(publish_skill, alice, load):
    second = teams.create_team("second", "Second", Actor(user=alice))
    publish_skill("report", name="other")
    publish_skill("report", into=second, name="report")
    publish_skill("other", name="report")
    publish_skill("port", name="report")
    rows = list_skills(Actor(user=alice)).rows
    assert len(rows) == 4
    for row in rows:
        assert load(row.listed.name) == f"{row.listed.skill}@1.0.0"
