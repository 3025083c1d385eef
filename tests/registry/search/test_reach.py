"""The columns by which search and match read fast say the same as the querysets that say who may see what."""

from __future__ import annotations

import pytest

from registry.core import sql as bulk
from registry.identity.actors import ANONYMOUS, Actor, administrator_actor
from registry.models import Skill, Subscription, Tag, Team
from registry.search import sql as retrieval
from registry.subscriptions import trusted_teams
from registry.versions.lifecycle import rename as publishing_rename
from registry.versions.lifecycle import settings
from registry.versions.lifecycle import yank as publishing_yank
from tests.checks import not_none

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "D7")]


@pytest.fixture
def actors(alice, bob, charlie):
    return [*(Actor(user=user) for user in (alice, bob, charlie)), ANONYMOUS, administrator_actor()]


@pytest.fixture
def skills(publish_skill, charlie):
    """Of two teams, one of every kind; each has a tag."""
    elsewhere, mine = Team.objects.get(slug="elsewhere"), Actor(user=charlie)
    for where, by in ((None, None), (elsewhere, mine)):
        into = {"into": where, "by": by} if where else {}
        for visibility in ("private", "site", "public"):
            publish_skill(f"is-{visibility}", visibility=visibility, tags=("x",), **into)
        publish_skill("internal", visibility="public", type="internal", tags=("x",), **into)
        publish_skill("people", visibility="public", disable_model_invocation=True, tags=("x",), **into)
        publish_skill("bundled", visibility="public", tags=("x",), **into)
        publish_skill("hidden", visibility="private", tags=("x",), **into)
    for skill in Skill.objects.filter(slug__in=["bundled", "hidden"]):
        trusted_teams.set_bundled(skill, True, administrator_actor())


def read(sight):
    sql = f"SELECT DISTINCT skill_id FROM registry_posting WHERE 1 = 1{sight.condition}"
    return {key for (key,) in sight.rows(sql, sight.values, {"skill_id": "bigint"})}


def same(actors):
    for actor in actors:
        seen = set(
            Skill.objects.discoverable_by(actor).filter(latest__isnull=False).values_list("pk", flat=True)
        )
        assert set(Skill.objects.searchable_by(actor).values_list("pk", flat=True)) == seen
        assert read(retrieval.visibility_filter(actor)) == seen
        assert read(retrieval.recommendable_filter(actor)) == set(
            Skill.objects.recommendable_to(actor).values_list("pk", flat=True)
        )
    rows = Tag.objects.values_list("scope", "skill__search_scope")
    assert all(scope == other for scope, other in rows)
    assert not bulk.fetch_all(
        "SELECT 1 FROM registry_trigger t JOIN registry_posting p ON p.skill_id = t.skill_id "
        "WHERE COALESCE(t.recommendable_team, 0) <> COALESCE(p.recommendable_team, 0)",
        (),
    )


def test_what_is_read_fast_is_what_may_be_seen_and_what_agents_are_offered(skills, actors):
    same(actors)
    reached = [len(read(retrieval.recommendable_filter(actor))) for actor in actors]
    assert min(reached) > 0
    assert len(set(reached)) > 2


def test_it_stays_so_when_teams_subscribe_and_skills_move_hide_and_go(skills, actors, team):
    elsewhere, owner = Team.objects.get(slug="elsewhere"), administrator_actor()
    Subscription.objects.create(team=elsewhere, publisher=team)
    same(actors)
    mine = {skill.slug: skill for skill in Skill.objects.filter(team=team).select_related("team", "latest")}
    publishing_rename.rename(mine["is-public"], owner, slug="moved", team=elsewhere)
    same(actors)
    settings.set_visibility(mine["is-site"], "private", owner)
    same(actors)
    publishing_yank.yank(not_none(mine["bundled"].latest), owner, reason="wrong")
    same(actors)
    settings.set_visibility(mine["bundled"], "site", owner)  # nothing is shown of it, and nothing counted
    same(actors)
