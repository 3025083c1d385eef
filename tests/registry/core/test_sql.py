"""Prepared queries return what their querysets return, for every value."""

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core.sql import prepared
from registry.models import Skill, Team
from registry.usage.scores import ScorePosition, keys_by_score, keys_of_discoverable

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def skills(team):
    other = Team.objects.create(slug="other", name="Other")
    now = timezone.now()
    rows = []
    for number in range(40):
        used = number % 4
        rows.append(
            Skill(
                team=other if number % 2 else team,
                slug=f"skill-{number}",
                name=f"Skill {number}",
                visibility=("private", "site", "public")[number % 3],
                type="internal" if number % 11 == 0 else "",
                is_reported=number % 7 == 0,
                for_agents=number % 5 > 0,
                tags=[f"tag {number}"],
                usage_count=used * number,
                last_used_at=now - timedelta(days=3 * number) if used else None,
                hot_key=3000.0 - number if used else 0.0,
            )
        )
    return Skill.objects.bulk_create(rows)


def test_values_take_the_place_of_every_placeholder(skills):
    @prepared
    def query(slug, least, before):
        found = Skill.objects.select_related("team", "latest").filter(slug=slug, usage_count__gte=least)
        return found.exclude(last_used_at__gt=before).order_by("pk")

    now = timezone.now()
    for skill in skills:
        found = query(skill.slug, 1, now)
        assert list(found) == list(Skill.objects.filter(slug=skill.slug, usage_count__gte=1))
        assert [each.team.slug for each in found] == [skill.team.slug] * len(found)
        assert [each.tags for each in found] == [skill.tags] * len(found)
        assert query(skill.slug, 1, now - timedelta(days=400)).first() is None


def test_values_that_look_like_placeholders_or_sql_are_only_values(skills):
    @prepared
    def query(slug):
        return Skill.objects.filter(slug=slug).values_list("slug", "pk")

    for text in ("prepared-0", "%s", "' OR 1=1 --", "skill-1"):
        assert list(query(text)) == [(each.slug, each.pk) for each in skills if each.slug == text]


@pytest.mark.parametrize("for_agents", [False, True])
def test_the_prepared_list_is_the_list_of_the_queryset(skills, alice, charlie, administrator, for_agents):
    from registry.identity.actors import ANONYMOUS, Actor

    for actor in (ANONYMOUS, Actor(user=alice), Actor(user=charlie), Actor(user=administrator)):
        rows = Skill.objects.discoverable_by(actor)
        rows = rows.filter(for_agents=True) if for_agents else rows
        position: ScorePosition | None = ScorePosition(timezone.now().timestamp())
        while position:
            expected = keys_by_score(rows, 7, position)
            assert keys_of_discoverable(actor, 7, position, for_agents=for_agents) == expected
            position = expected[1]


def test_documents_of_a_list_are_those_of_its_skills(skills):
    from registry.api.documents.listed_skills import listed_documents
    from registry.api.documents.skills import skill_document

    Skill.objects.filter(pk=skills[0].pk).update(purged_at=timezone.now(), tags=["a", "b"], latest=None)
    keys = [skill.pk for skill in skills][::-1]
    rows = Skill.objects.select_related("team", "latest").in_bulk(keys)
    assert listed_documents([*keys, 10**6]) == [skill_document(rows[key]) for key in keys]
