"""A canonical skill is found, listed and loaded by what its answered version says, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from registry.canonical import pinned_postings, pins
from registry.events import receive
from registry.identity.actors import ANONYMOUS, Actor
from registry.index import postings
from registry.listing import load
from registry.listing.list_skills import list_skills
from registry.matching.documents import match_document
from registry.matching.match import MatchQuery, match
from registry.models import Canonical, PinnedPosting, PinnedTrigger, Team
from registry.packages.package import Triggers
from registry.packages.problems import Refusal
from registry.search.query import search
from registry.search.query import search_document as search_document
from registry.subscriptions import trusted_teams
from registry.versions.lifecycle import settings
from registry.versions.lifecycle import yank as publishing_yank
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("D10", "C4", "D7", "D11", "E1")]
NAME = "_canonical_report"


@pytest.fixture
def pin(root):
    def make(version):
        return pins.set_canonical("report", version, root, reason="Ours.")

    return make


@pytest.fixture
def accepted(publish_skill, pin):
    """Pinned, of which a later version says something else altogether."""

    def make(first=None, **later):
        said = {"description": "Draws harbour charts.", "body": "Soundings of every quay."} | (first or {})
        version = publish_skill(visibility="public", **said)
        pin(version)
        words = {"description": "Bakes rye bread.", "body": "Flour, water, salt."} | later
        publish_skill(version="2.0.0", visibility="public", **words)
        return version

    return make


def told(text, actor, **more):
    found = match_document(match(MatchQuery(text, **more), actor), actor)["results"]
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
    trusted_teams.subscribe(Team.objects.get(slug="elsewhere"), "docs", stranger)
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
    (best,) = match(MatchQuery("please chart the harbour"), stranger).rows
    assert [(each.kind, each.text) for each in best.reasons] == [("phrase", "chart the harbour")]
    (best,) = match(MatchQuery("a long story " * 20 + "please chart the harbour"), stranger).rows
    assert best.reasons[0].text == "chart the harbour"


def test_phrases_accepted_beside_the_package_are_not_what_was_vouched_for(accepted, stranger, alice):
    version = accepted()
    version.skill.phrases.create(text="order a cake", language="en", state="accepted")
    postings.index_latest(type(version.skill).objects.get(pk=version.skill.pk))
    assert told("order a cake", stranger) == []
    assert told("order a cake", Actor(user=alice)) == [("docs/report", "2.0.0")]


def test_its_canonical_name_is_the_accepted_version_to_its_own_team_too(accepted, alice, stranger):
    accepted()
    for asker in (Actor(user=alice), stranger):
        assert told(f"use {NAME} please", asker)[0] == (NAME, "1.0.0")
        assert load.skills_load(NAME, asker).version.number == "1.0.0"
        rows: Any = search_document(search(NAME, asker))["results"]
        (row,) = rows
        assert (row["skill"], row["version"]) == (NAME, "1.0.0")


def test_the_accepted_version_is_offered_where_the_latest_is_not_for_agents(accepted, stranger, alice):
    accepted(disable_model_invocation=True)
    for asker in (stranger, Actor(user=alice)):
        assert told("harbour soundings", asker) == [(NAME, "1.0.0")]
        assert told("rye bread with flour", asker) == []
        assert [row.listed.name for row in list_skills(asker).rows] == [NAME]
        assert load.skills_load("report", asker).version.number == "1.0.0"
        assert [each.id for each in load.skills_list(asker).skills] == [NAME]


def test_an_accepted_version_that_is_not_for_agents_is_offered_to_nobody_unasked(accepted, stranger, alice):
    accepted({"disable_model_invocation": True})
    assert told("harbour soundings", stranger) == told("rye bread with flour", stranger) == []
    assert not list_skills(stranger).rows
    assert told("rye bread with flour", Actor(user=alice)) == [("docs/report", "2.0.0")]


def test_it_is_loaded_by_the_name_that_was_accepted(accepted, stranger):
    accepted({"name": "harbour-master"}, name="baker")
    assert load.skills_load("harbour-master", stranger).version.number == "1.0.0"
    assert load.skills_load("harbour-mas", stranger).version.number == "1.0.0"
    with pytest.raises(Refusal) as refused:
        load.skills_load("baker", stranger)
    assert (refused.value.code, refused.value.problems[0].params["name"]) == ("LOAD_NOT_FOUND", "baker")


def test_an_event_meets_the_version_that_is_answered(accepted, stranger):
    accepted(
        {"triggers": Triggers(event_types=("tide.turned",))}, triggers=Triggers(event_types=("oven.hot",))
    )
    (found,) = receive._declaring_skills("tide.turned", stranger)
    assert (
        not_none(not_none(found.resolved_canonical).version).number,
        receive._declaring_skills("oven.hot", stranger),
    ) == (
        "1.0.0",
        [],
    )


def test_moving_yanking_purging_and_taking_back_change_it_at_once(accepted, pin, stranger, alice, root):
    version = accepted()
    pin(version.skill.versions.get(number="2.0.0"))
    assert told("rye bread with flour", stranger) == [(NAME, "2.0.0")]
    assert told("harbour soundings", stranger) == []
    assert set(PinnedPosting.objects.values_list("version__number", flat=True)) == {"2.0.0"}
    later = version.skill.versions.get(number="2.0.0")
    publishing_yank.yank(later, Actor(user=alice), reason="Burnt.")
    assert told("rye bread with flour", stranger) == []
    pin(version)
    assert told("harbour soundings", stranger) == [(NAME, "1.0.0")]
    pins.unset("report", root, reason="Done.")
    assert told("harbour soundings", stranger) == []
    assert not PinnedPosting.objects.exists()
    assert not PinnedTrigger.objects.exists()


def test_a_hidden_canonical_skill_tells_a_stranger_nothing(accepted, stranger, alice, publish_skill):
    publish_skill(
        "tide",
        visibility="public",
        description="Draws tide tables.",
        by=stranger,
        into=Team.objects.get(slug="elsewhere"),
    )
    version = accepted()
    before = told("harbour charts and tide tables", ANONYMOUS)
    assert (NAME, "1.0.0") in before
    settings.set_visibility(version.skill, "private", Actor(user=alice))
    assert told("harbour soundings", ANONYMOUS) == told("harbour soundings", stranger) == []


def test_what_was_pinned_before_is_written_by_a_reindex(accepted, stranger):
    version = accepted()
    PinnedPosting.objects.all().delete()
    Canonical.objects.update(indexed_as=0)
    assert told("harbour soundings", stranger) == []
    atomic_blocks = len(connection.atomic_blocks)
    assert [(name, len(connection.atomic_blocks)) for name in pinned_postings.reindex()] == [
        (NAME, atomic_blocks)
    ]
    assert list(pinned_postings.reindex()) == []
    assert told("harbour soundings", stranger) == [(NAME, version.number)]
