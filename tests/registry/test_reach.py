"""The columns by which search and match read fast say the same as the querysets that say who may see what."""

from __future__ import annotations

import pytest

from registry import bulk, publishing, retrieval, subscriptions
from registry.actors import ANONYMOUS, Actor, administrator_actor
from registry.models import Skill, Subscription, Tag, Team

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "D7")]


@pytest.fixture
def actors(alice, bob, charlie):
    return [*(Actor(user=user) for user in (alice, bob, charlie)), ANONYMOUS, administrator_actor()]


@pytest.fixture
def skills(published, charlie):
    """Of two teams, one of every kind; each has a tag."""
    elsewhere, mine = Team.objects.get(slug="elsewhere"), Actor(user=charlie)
    for where, by in ((None, None), (elsewhere, mine)):
        into = {"into": where, "by": by} if where else {}
        for visibility in ("private", "site", "public"):
            published(f"is-{visibility}", visibility=visibility, tags=("x",), **into)
        published("internal", visibility="public", type="internal", tags=("x",), **into)
        published("people", visibility="public", disable_model_invocation=True, tags=("x",), **into)
        published("bundled", visibility="public", tags=("x",), **into)
        published("hidden", visibility="private", tags=("x",), **into)
    for skill in Skill.objects.filter(slug__in=["bundled", "hidden"]):
        subscriptions.set_bundled(skill, True, administrator_actor())


def read(sight):
    sql = f"SELECT DISTINCT skill_id FROM registry_posting WHERE 1 = 1{sight.seen}"
    return {key for (key,) in sight.read(sql, sight.values)}


def same(actors):
    for actor in actors:
        seen = set(Skill.objects.offered_to(actor).filter(latest__isnull=False).values_list("pk", flat=True))
        assert set(Skill.objects.found_by(actor).values_list("pk", flat=True)) == seen
        assert read(retrieval.sight(actor)) == seen
        assert read(retrieval.reach(actor)) == set(
            Skill.objects.reachable_by(actor).values_list("pk", flat=True)
        )
    rows = Tag.objects.values_list("scope", "skill__search_scope")
    assert all(scope == other for scope, other in rows)
    assert not bulk.read(
        "SELECT 1 FROM registry_trigger t JOIN registry_posting p ON p.skill_id = t.skill_id "
        "WHERE COALESCE(t.offered_by, 0) <> COALESCE(p.offered_by, 0)",
        (),
    )


def test_what_is_read_fast_is_what_may_be_seen_and_what_agents_are_offered(skills, actors):
    same(actors)
    reached = [len(read(retrieval.reach(actor))) for actor in actors]
    assert min(reached) > 0
    assert len(set(reached)) > 2


def test_it_stays_so_when_teams_subscribe_and_skills_move_hide_and_go(skills, actors, team):
    elsewhere, owner = Team.objects.get(slug="elsewhere"), administrator_actor()
    Subscription.objects.create(team=elsewhere, publisher=team)
    same(actors)
    mine = {skill.slug: skill for skill in Skill.objects.filter(team=team).select_related("team", "latest")}
    publishing.rename(mine["is-public"], owner, slug="moved", team=elsewhere)
    same(actors)
    publishing.set_visibility(mine["is-site"], "private", owner)
    same(actors)
    publishing.yank(mine["bundled"].latest, owner, reason="wrong")
    same(actors)
    publishing.set_visibility(mine["bundled"], "site", owner)  # nothing is shown of it, and nothing counted
    same(actors)
