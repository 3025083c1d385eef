"""Collections as clients of other protocols read them: content, versions, visibility and history."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.facades.git import kept
from registry.identity.actors import ANONYMOUS, Actor
from registry.identity.permissions import Action, may
from registry.identity.teams import create_team
from registry.listing.load import skills_load
from registry.models import Collection, CollectionState, Skill, Visibility
from registry.packages.problems import Refusal
from registry.versions.lifecycle.channels import set_channel
from registry.versions.lifecycle.purge import purge_version
from registry.versions.lifecycle.yank import yank
from tests.factories.skills import prompt_files, publish_files, tidy_files
from tests.registry.facades.conftest import get, show
from tests.registry.facades.test_git import cloned, files, log, refs

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
START = "/collections/docs/start"


@pytest.fixture
def prompt(team, alice):
    return publish_files(prompt_files(), team=team, user=alice)


@pytest.fixture
def make(team, alice):
    """``make("docs/a", "docs/b@1.0.0")``: the public collection docs/start with these skills."""

    def create(*lines, visibility=Visibility.PUBLIC, slug="start"):
        chosen = [ChosenSkill.parse(line) for line in lines]
        return edit.create(team, slug, Actor(user=alice), visibility=visibility, chosen=chosen)

    return create


def names(address=START, **more):
    return [
        row["name"] for row in get(f"{address}/.well-known/agent-skills/index.json", **more).json()["skills"]
    ]


def market(address=START, **more):
    plugins = get(f"{address}/marketplace.json", **more).json()["plugins"]
    return {row["name"]: row["version"] for row in plugins}


def bearer(secret):
    return {"authorization": f"Bearer {secret}"}


def test_pin_stays_channel_and_latest_follow(report, prompt, make, team, alice):
    show(prompt)
    set_channel("stable", report, Actor(user=alice))
    make("docs/weekly-report@1.2.0", "docs/kind-review")
    make("docs/weekly-report@stable", slug="channel")
    make("docs/weekly-report@latest", slug="newest")
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    assert market() == {"weekly-report": "1.2.0", "kind-review": "0.1.0"}
    assert market("/collections/docs/channel") == {"weekly-report": "1.2.0"}
    assert market("/collections/docs/newest") == {"weekly-report": "1.3.0"}
    set_channel("stable", newer, Actor(user=alice))
    assert market("/collections/docs/channel") == {"weekly-report": "1.3.0"}
    yank(newer, Actor(user=alice), reason="Wrong.")
    assert market("/collections/docs/channel") == {}
    yank(report, Actor(user=alice), reason="Wrong.")
    assert market()["weekly-report"] == "1.2.0"  # a pin works like a request for the exact number


def test_private_skill_in_a_public_collection_is_shown_only_to_its_team(
    report, prompt, make, alice, bob, charlie, secret_of
):
    make("docs/kind-review", "docs/weekly-report")
    before = get(f"{START}.git/info/refs?service=git-upload-pack").getvalue()
    for more in ({}, bearer(secret_of(charlie))):
        assert names(**more) == ["weekly-report"]
        assert market(**more) == {"weekly-report": "1.2.0"}
        detail = get("/api/v1/collections/docs/start", **more)
        assert b"kind-review" not in detail.getvalue()
        assert b"kind-review" not in get("/api/v1/collections/docs/start/prompt", **more).getvalue()
        main, pack = cloned(f"{START}.git", **more)
        assert not any("kind-review" in path for path in files(pack, pack[main].tree))
    assert names(**bearer(secret_of(bob))) == ["kind-review", "weekly-report"]
    assert (
        "docs/kind-review"
        in get("/api/v1/collections/docs/start/prompt", **bearer(secret_of(bob))).getvalue().decode()
    )
    edit.change(Collection.objects.get(), Actor(user=alice), chosen=[ChosenSkill("docs/weekly-report")])
    assert get(f"{START}.git/info/refs?service=git-upload-pack").getvalue() == before


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/collections/docs/{}",
        "/collections/docs/{}/.well-known/agent-skills/index.json",
        "/collections/docs/{}/marketplace.json",
        "/collections/docs/{}.git/info/refs?service=git-upload-pack",
        "/collections/docs/{}.private.git/info/refs?service=git-upload-pack",
    ],
)
def test_private_collection_and_absent_one_look_the_same(report, make, charlie, secret_of, address):
    make("docs/weekly-report", visibility=Visibility.PRIVATE)
    for headers in ({}, bearer(secret_of(charlie))):
        known = {**headers, "x-request-id": "stranger-1"}
        found = [Client().get(address.format(slug), headers=known) for slug in ("start", "absent")]
        texts = [answer.getvalue().replace(b"absent", b"start") for answer in found]
        assert texts[0] == texts[1]
        assert found[0].status_code == found[1].status_code
        assert found[0].status_code == (401 if ".git" in address and not headers else 404)


def test_editor_keeps_skills_of_other_teams_that_are_hidden_from_them(report, make, alice, charlie):
    other = create_team("other", "Other", Actor(user=charlie))
    publish_files(prompt_files(), team=other, user=charlie)
    collection = make("docs/weekly-report")
    show(Skill.objects.get(slug="kind-review").latest)
    edit.change(
        collection,
        Actor(user=alice),
        chosen=[ChosenSkill("other/kind-review"), ChosenSkill("docs/weekly-report")],
    )
    show(Skill.objects.get(slug="kind-review").latest, Visibility.PRIVATE)
    assert names() == ["weekly-report"]
    edit.change(collection, Actor(user=alice), chosen=[])
    assert [item.skill.slug for item in collection.items.all()] == ["kind-review"]


def test_git_history_has_a_commit_for_each_state_and_never_changes(report, make, team, alice):
    make("docs/weekly-report")
    first = refs(f"{START}.git")["refs/heads/main"]
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    main, pack = cloned(f"{START}.git")
    assert [commit.id.decode() for commit in log(pack, main)] == [main, first]
    found = files(pack, pack[main].tree)
    assert json.loads(found[".claude-plugin/marketplace.json"])["name"] == "docs-start"
    assert found["plugins/weekly-report/skills/weekly-report/SKILL.md"] == tidy_files("1.3.0")["SKILL.md"]
    kept.forget()
    assert refs(f"{START}.git")["refs/heads/main"] == main
    assert CollectionState.objects.count() == 2


def test_purged_version_leaves_collection_and_history(report, make, team, alice):
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    make("docs/weekly-report@1.3.0")
    refs(f"{START}.git")
    purge_version(newer, Actor(user=alice), reason="A secret.")
    kept.forget()
    assert names() == []
    main, pack = cloned(f"{START}.git")
    assert not any(path.startswith("plugins/") for path in files(pack, pack[main].tree))


def test_equal_slugs_of_two_teams_have_distinct_names(report, make, alice, charlie):
    other = create_team("other", "Other", Actor(user=charlie))
    show(publish_files(tidy_files("3.0.0"), team=other, user=charlie))
    make("docs/weekly-report", "other/weekly-report")
    assert names() == ["weekly-report", "other-weekly-report"]
    assert market() == {"weekly-report": "1.2.0", "other-weekly-report": "3.0.0"}


def test_each_team_has_the_collection_all(report, prompt, bob, alice, secret_of):
    assert names("/collections/docs/all") == ["weekly-report"]
    assert set(names("/collections/docs/all", **bearer(secret_of(bob)))) == {"weekly-report", "kind-review"}
    assert refs("/collections/docs/all.git") == refs("/docs/all.git")
    detail = get("/api/v1/collections/docs/all").json()
    assert [row["skill"] for row in detail["skills"]] == ["docs/weekly-report"]
    get("/api/v1/collections/absent/all", status=404)
    with pytest.raises(Refusal) as refused:
        edit.delete(Collection(team=report.skill.team, slug="all"), Actor(user=alice))
    assert refused.value.problems[0].code == "COLLECTION_COMPUTED"


def test_prompt_section_omits_skills_that_agents_may_not_use(report, make, team, alice):
    head = b"---\nname: quiet\ndescription: Hidden.\ndisable-model-invocation: true\n---\n# x\n"
    show(publish_files({"SKILL.md": head}, team=team, user=alice))
    make("docs/weekly-report", "docs/quiet")
    text = get("/api/v1/collections/docs/start/prompt").getvalue().decode()
    assert "- docs/weekly-report: " in text
    assert "docs/quiet" not in text


@pytest.mark.parametrize("selector", ["1.2.0", "stable", "latest"])
def test_name_in_the_prompt_section_loads_the_version_of_the_collection(report, make, team, alice, selector):
    set_channel("stable", report, Actor(user=alice))
    make(f"docs/weekly-report@{selector}")
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    text = get("/api/v1/collections/docs/start/prompt").getvalue().decode()
    (name,) = re.findall("^- (docs/weekly-report[^:]*): ", text, re.MULTILINE)
    loaded = skills_load(name, ANONYMOUS).version.number
    assert loaded == market()["weekly-report"] == ("1.3.0" if selector == "latest" else "1.2.0")


@pytest.mark.parametrize("visibility", Visibility.values)
def test_query_and_table_agree_on_who_sees_a_collection(report, make, alice, bob, charlie, root, visibility):
    collection = make(visibility=visibility)
    for actor in (ANONYMOUS, Actor(user=alice), Actor(user=bob), Actor(user=charlie), root):
        probe = Skill(team=collection.team, slug="x", visibility=visibility)
        expected = may(actor, Action.SEE, skill=probe)
        assert Collection.objects.visible_to(actor).exists() == expected, (actor, visibility)
