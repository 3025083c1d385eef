"""The default order of the catalog on each page: used skills by score, then unused ones."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.pages.catalog import pagination
from portal.pages.catalog.pagination import NewestSkills, SkillsByScore
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


@pytest.mark.parametrize("max_ranked", [0, 2_000])
def test_pages_continue_each_other(labels, alice, monkeypatch, max_ranked):
    monkeypatch.setattr(pagination, "_MAX_RANKED", max_ranked)
    for filters in (Filters(), Filters(team="docs"), Filters(tag="x")):
        skills = SkillsByScore(Actor(user=alice), filters)
        assert len(skills) == 9
        for size in (2, 3, 4, 20):
            pages = [skills[start : start + size] for start in range(0, 9, size)]
            assert [skill.slug for page in pages for skill in page] == labels
    assert len(SkillsByScore(Actor(user=alice), Filters(for_people=True))) == 8
    assert len(SkillsByScore(Actor(), Filters())) == 0


def test_newest_skills_are_counted_by_the_stored_counts(labels, alice):
    actor = Actor(user=alice)
    for filters in (Filters(), Filters(team="docs"), Filters(tag="x")):
        skills = NewestSkills(actor, filters)
        assert len(skills) == 9
        pages = [skills[start : start + 4] for start in range(0, 9, 4)]
        assert [skill.slug for page in pages for skill in page] == [f"s{n}" for n in range(8, -1, -1)]
    with CaptureQueriesContext(connection) as queries:
        assert len(NewestSkills(actor, Filters(for_people=True))) == 8
    (query,) = queries.captured_queries
    assert "registry_facetcount" in query["sql"]
    assert '"registry_skill"' not in query["sql"]
