"""The default order of the catalog on each page: used skills by score, then unused ones."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.pages.catalog import pagination
from portal.pages.catalog.pagination import NewestSkills, SkillsByScore
from registry.core.sql import read
from registry.identity.actors import Actor
from registry.models import Skill
from registry.search.query import Filters
from registry.versions.publishing.publish import publish
from tests.registry.conftest import make_package

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]


@pytest.fixture
def labels(team, alice):
    """The slugs in their order: four used skills, then five unused ones."""
    for number in range(9):
        package = make_package(f"s{number}", user_invocable=number != 8, tags=("x",))
        publish(package, team=team, actor=Actor(user=alice))
    for number in range(4):
        used = {"usage_count": number + 1, "hot_key": number + 1, "last_used_at": timezone.now()}
        Skill.objects.filter(slug=f"s{number}").update(**used)
    return ["s3", "s2", "s1", "s0", "s8", "s7", "s6", "s5", "s4"]


def length_of(order):
    read(order.load())
    return order.length


def slugs_of(order, size):
    """The slugs of all pages of this size."""
    assert length_of(order) == 9
    slugs = dict(Skill.objects.values_list("pk", "slug"))
    return [slugs[key] for start in range(0, 9, size) for key in order.keys(start, min(start + size, 9))]


@pytest.mark.parametrize("max_ranked", [0, 2_000])
def test_pages_continue_each_other(labels, alice, monkeypatch, max_ranked):
    monkeypatch.setattr(pagination, "_MAX_RANKED", max_ranked)
    for filters in (Filters(), Filters(team="docs"), Filters(tag="x")):
        for size in (2, 3, 4, 20):
            assert slugs_of(SkillsByScore(Actor(user=alice), filters), size) == labels
    assert length_of(SkillsByScore(Actor(user=alice), Filters(for_people=True))) == 8
    assert length_of(SkillsByScore(Actor(), Filters())) == 0


def test_newest_skills_are_counted_by_the_stored_counts(labels, alice):
    actor = Actor(user=alice)
    for filters in (Filters(), Filters(team="docs"), Filters(tag="x")):
        assert slugs_of(NewestSkills(actor, filters), 4) == [f"s{n}" for n in range(8, -1, -1)]
    with CaptureQueriesContext(connection) as queries:
        assert length_of(NewestSkills(actor, Filters(for_people=True))) == 8
    (query,) = queries.captured_queries
    assert "registry_facetcount" in query["sql"]
    assert '"registry_skill"' not in query["sql"]
