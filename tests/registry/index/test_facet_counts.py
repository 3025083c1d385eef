"""After each change of a skill, the stored facet counts are those of a new count."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from registry.identity.actors import Actor
from registry.index import postings
from registry.models import CountedSkill, FacetCount, Skill, Team
from registry.search.facets import CATALOG_FACETS, facets
from registry.search.query import Filters
from registry.versions.lifecycle.merge import merge
from registry.versions.lifecycle.purge import purge_skill
from registry.versions.lifecycle.rename import rename
from registry.versions.lifecycle.settings import set_visibility
from registry.versions.lifecycle.yank import unyank, yank

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]
_MIGRATION = import_module("registry.migrations.0032_fill_facet_counts")
_COUNTS = ("facet", "team_key", "scope", "value", "skills", "for_people")
_STATES = ("skill", "team_key", "scope", "for_people", "facets")


@pytest.fixture
def skills(publish_skill, charlie):
    """Skills of two teams, in two languages, one of them not for people."""
    for each in ("a", "b"):
        publish_skill(each, tags=("x", each), category="office", visibility="public")
    elsewhere = Team.objects.get(slug="elsewhere")
    by = Actor(user=charlie)
    publish_skill("c", into=elsewhere, by=by, tags=("x",), type="static", visibility="site")
    publish_skill("d", description="周报", domain="law", user_invocable=False)
    return {skill.slug: skill for skill in Skill.objects.select_related("team", "latest")}


def _stored():
    """The stored counts, and how each skill is counted."""
    counts = FacetCount.objects.exclude(skills=0).values_list(*_COUNTS)
    return sorted(counts), sorted(CountedSkill.objects.values_list(*_STATES))


def _assert_counted(*, skills):
    stored = _stored()
    assert len(stored[1]) == skills
    for model in (FacetCount, CountedSkill):
        model.objects.all().delete()
    _MIGRATION.count_facets(apps, None)
    assert _stored() == stored


def test_published_skills_are_counted(skills, publish_skill):
    _assert_counted(skills=4)
    publish_skill("a", version="2.0.0", tags=("x", "new"), type="direct", user_invocable=False)
    _assert_counted(skills=4)
    tags = facets("", Filters(), Actor(is_shell=True))["tag"]
    assert {each.value: each.count for each in tags} == {"x": 3, "b": 1, "new": 1}


def test_changes_of_skills_are_counted(skills, alice):
    actor, shell = Actor(user=alice), Actor(is_shell=True)
    set_visibility(skills["a"], "private", actor)
    _assert_counted(skills=4)
    rename(skills["a"], shell, slug="e", team=skills["c"].team)
    _assert_counted(skills=4)
    yank(skills["b"].latest, actor, reason="Wrong.")
    _assert_counted(skills=3)
    unyank(skills["b"].latest, actor)
    _assert_counted(skills=4)
    merge(skills["d"], skills["b"], actor)
    _assert_counted(skills=3)
    purge_skill(skills["c"], shell, reason="Wrong.")
    _assert_counted(skills=2)


def test_counts_are_those_of_the_skills_that_each_user_finds(skills, alice, charlie, administrator):
    actors = [Actor(), Actor(user=alice), Actor(user=charlie), Actor(user=administrator)]
    for actor in actors:
        for own in ({}, {"for_people": True}, {"team": "docs"}, {"team": "absent"}):
            found = facets("", Filters(**own), actor, names=CATALOG_FACETS)
            for name, values in found.items():
                for each in values:
                    chosen = Filters(**own | {name: each.value})
                    assert chosen.searchable_by(actor).distinct().count() == each.count, (own, name, each)


def test_reindexing_counts_copied_skills(skills):
    stored = _stored()
    for model in (FacetCount, CountedSkill):
        model.objects.all().delete()
    assert list(postings.reindex(every=True)) == [4]
    assert _stored() == stored
