"""A canonical skill is found, listed and loaded by what its answered version says, whoever asks."""

from __future__ import annotations

import pytest

from registry import indexing, loading, publishing, subscriptions
from registry.actors import ANONYMOUS, Actor
from registry.canonical import indexed, setting
from registry.events import receiving
from registry.listing import list_skills
from registry.matching import Request, match
from registry.matching.documents import document
from registry.models import Canonical, PinnedPosting, PinnedTrigger, Team
from registry.packages.package import Triggers
from registry.packages.problems import Refused
from registry.search import document as search_document
from registry.search import search

pytestmark = [pytest.mark.django_db, pytest.mark.row("D10", "C4", "D7", "D11", "E1")]
NAME = "_canonical_report"


@pytest.fixture
def pin(root):
    def make(version):
        return setting.set_canonical("report", version, root, reason="Ours.")

    return make


@pytest.fixture
def accepted(published, pin):
    """Pinned, of which a later version says something else altogether."""

    def make(first=None, **later):
        said = {"description": "Draws harbour charts.", "body": "Soundings of every quay."} | (first or {})
        version = published(visibility="public", **said)
        pin(version)
        words = {"description": "Bakes rye bread.", "body": "Flour, water, salt."} | later
        published(version="2.0.0", visibility="public", **words)
        return version

    return make


def told(text, actor, **more):
    found = document(match(Request(text, **more), actor), actor)["results"]
    return [(row["skill"], row["version"]) for row in found]


def test_words_of_the_accepted_version_find_it_and_those_of_the_latest_do_not(accepted, stranger, alice):
    accepted()
    for asker in (stranger, ANONYMOUS):
        assert told("harbour soundings", asker) == [(NAME, "1.0.0")]
        assert told("rye bread with flour", asker) == []
    assert told("rye bread with flour", Actor(user=alice)) == [("docs/report", "2.0.0")]
    assert told("harbour soundings", Actor(user=alice)) == []


def test_a_subscribed_team_is_answered_the_latest_and_by_it(accepted, stranger):
    accepted()
    subscriptions.subscribe(Team.objects.get(slug="elsewhere"), "docs", stranger)
    again = Actor(user=stranger.user)
    assert told("rye bread with flour", again) == [("docs/report", "2.0.0")]
    assert told("harbour soundings", again) == []


def test_phrases_intents_and_names_are_those_of_the_accepted_version(accepted, stranger, alice):
    old = Triggers(phrases=("chart the harbour",), intents=("harbour.chart",), priority=0.9)
    new = Triggers(phrases=("bake a loaf",), intents=("bread.bake",))
    accepted({"triggers": old, "name": "harbour-master"}, triggers=new, name="baker")
    assert told("please chart the harbour", stranger) == [(NAME, "1.0.0")]
    assert told("", stranger, intent="harbour.chart") == [(NAME, "1.0.0")]
    assert told("harbour master", stranger) == [(NAME, "1.0.0")]
    assert told("please bake a loaf", stranger) == []
    assert told("", stranger, intent="bread.bake") == []
    assert told("please bake a loaf", Actor(user=alice)) == [("docs/report", "2.0.0")]
    (best,) = match(Request("please chart the harbour"), stranger).rows
    assert [(each.kind, each.text) for each in best.reasons] == [("phrase", "chart the harbour")]
    (best,) = match(Request("a long story " * 20 + "please chart the harbour"), stranger).rows
    assert best.reasons[0].text == "chart the harbour"


def test_phrases_accepted_beside_the_package_are_not_what_was_vouched_for(accepted, stranger, alice):
    version = accepted()
    version.skill.phrases.create(text="order a cake", language="en", state="accepted")
    indexing.index_latest(type(version.skill).objects.get(pk=version.skill.pk))
    assert told("order a cake", stranger) == []
    assert told("order a cake", Actor(user=alice)) == [("docs/report", "2.0.0")]


def test_its_canonical_name_is_the_accepted_version_to_its_own_team_too(accepted, alice, stranger):
    accepted()
    for asker in (Actor(user=alice), stranger):
        assert told(f"use {NAME} please", asker)[0] == (NAME, "1.0.0")
        assert loading.skills_load(NAME, asker).version.number == "1.0.0"
        (row,) = search_document(search(NAME, asker))["results"]
        assert (row["skill"], row["version"]) == (NAME, "1.0.0")


def test_the_accepted_version_is_offered_where_the_latest_is_not_for_agents(accepted, stranger, alice):
    accepted(disable_model_invocation=True)
    for asker in (stranger, Actor(user=alice)):
        assert told("harbour soundings", asker) == [(NAME, "1.0.0")]
        assert told("rye bread with flour", asker) == []
        assert [row.offer.name for row in list_skills(asker).rows] == [NAME]
        assert loading.skills_load("report", asker).version.number == "1.0.0"
        assert [each.name for each in loading.skills_list(asker).skills] == [NAME]


def test_an_accepted_version_that_is_not_for_agents_is_offered_to_nobody_unasked(accepted, stranger, alice):
    accepted({"disable_model_invocation": True})
    assert told("harbour soundings", stranger) == told("rye bread with flour", stranger) == []
    assert not list_skills(stranger).rows
    assert told("rye bread with flour", Actor(user=alice)) == [("docs/report", "2.0.0")]


def test_it_is_loaded_by_the_name_that_was_accepted(accepted, stranger):
    accepted({"name": "harbour-master"}, name="baker")
    assert loading.skills_load("harbour-master", stranger).version.number == "1.0.0"
    assert loading.skills_load("harbour-mas", stranger).version.number == "1.0.0"
    with pytest.raises(Refused, match="not found: baker"):
        loading.skills_load("baker", stranger)


def test_an_event_meets_the_version_that_is_answered(accepted, stranger):
    accepted(
        {"triggers": Triggers(event_types=("tide.turned",))}, triggers=Triggers(event_types=("oven.hot",))
    )
    (found,) = receiving._declaring("tide.turned", stranger)
    assert (found.found_as.version.number, receiving._declaring("oven.hot", stranger)) == ("1.0.0", [])


def test_moving_yanking_purging_and_taking_back_change_it_at_once(accepted, pin, stranger, alice, root):
    version = accepted()
    pin(version.skill.versions.get(number="2.0.0"))
    assert told("rye bread with flour", stranger) == [(NAME, "2.0.0")]
    assert told("harbour soundings", stranger) == []
    assert set(PinnedPosting.objects.values_list("version__number", flat=True)) == {"2.0.0"}
    later = version.skill.versions.get(number="2.0.0")
    publishing.yank(later, Actor(user=alice), reason="Burnt.")
    assert told("rye bread with flour", stranger) == []
    pin(version)
    assert told("harbour soundings", stranger) == [(NAME, "1.0.0")]
    setting.unset("report", root, reason="Done.")
    assert told("harbour soundings", stranger) == []
    assert not PinnedPosting.objects.exists()
    assert not PinnedTrigger.objects.exists()


def test_a_hidden_canonical_skill_tells_a_stranger_nothing(accepted, stranger, alice, published):
    published(
        "tide",
        visibility="public",
        description="Draws tide tables.",
        by=stranger,
        into=Team.objects.get(slug="elsewhere"),
    )
    version = accepted()
    before = told("harbour charts and tide tables", ANONYMOUS)
    assert (NAME, "1.0.0") in before
    publishing.set_visibility(version.skill, "private", Actor(user=alice))
    assert told("harbour soundings", ANONYMOUS) == told("harbour soundings", stranger) == []


def test_what_was_pinned_before_is_written_by_a_reindex(accepted, stranger):
    version = accepted()
    PinnedPosting.objects.all().delete()
    Canonical.objects.update(indexed_as=0)
    assert told("harbour soundings", stranger) == []
    assert list(indexed.reindex()) == [NAME]
    assert list(indexed.reindex()) == []
    assert told("harbour soundings", stranger) == [(NAME, version.number)]
