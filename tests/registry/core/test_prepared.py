"""Prepared querysets return the rows of the querysets that they are built from, for every actor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.db.models import Count, F, Q
from django.utils import timezone

from registry.core import sql
from registry.core.sql import count_rows, evaluate, prepared
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import Membership, Role, RunReaders, Skill, Team, Token, User

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


class Setting(NamedTuple):
    """A user's account and memberships, from which the test creates actors."""

    roles: tuple[Role, ...] = ()
    readers: tuple[str, ...] = ()
    superuser: bool = False


SETTINGS = (
    *(Setting((role,)) for role in Role),
    Setting(),
    Setting((Role.OWNER, Role.OWNER)),
    Setting((Role.VIEWER, Role.MEMBER, Role.OWNER)),
    Setting((Role.MEMBER, Role.MEMBER, Role.MEMBER)),
    Setting((Role.MEMBER, Role.MEMBER), (RunReaders.TEAM,)),
    Setting(superuser=True),
    Setting((Role.VIEWER,), superuser=True),
)


@pytest.fixture
def teams(db):
    return [Team.objects.create(slug=f"team-{number}", name=f"Team {number}") for number in range(6)]


@pytest.fixture
def skills(teams):
    now = timezone.now()
    return Skill.objects.bulk_create(
        Skill(
            team=teams[number % len(teams)],
            slug=f"skill-{number}",
            name=f"Skill {number}",
            visibility=("private", "site", "public")[number % 3],
            type="internal" if number % 11 == 0 else "",
            search_scope=("public", "site", f"team:{teams[number % len(teams)].pk}")[number % 3],
            tags=[f"tag {number}"],
            usage_count=number,
            last_used_at=now - timedelta(days=number),
        )
        for number in range(60)
    )


def _join(user, teams, setting):
    for team, role in zip(teams, setting.roles, strict=False):
        Membership.objects.create(user=user, team=team, role=role)
    for team, readers in zip(teams, setting.readers, strict=False):
        Team.objects.filter(pk=team.pk).update(run_readers=readers)


@pytest.fixture
def actors(teams):
    """Two actors of each shape that are in different teams."""
    found = [ANONYMOUS, Actor(is_shell=True)]
    for number, setting in enumerate(SETTINGS):
        for place, own in enumerate((teams, teams[::-1])):
            user = User.objects.create_user(f"user-{number}-{place}", is_superuser=setting.superuser)
            _join(user, own, setting)
            others = [
                Actor(user=user, token=Token(), scopes=frozenset({"read"})),
                Actor(user=user, token=Token(team=own[0])),
                Actor(user=user, operator=Actor(is_shell=True)),
            ]
            found += [Actor(user=user), *(others if number % 3 == 0 else ())]
    return found


@prepared
def _visible(actor, usage, before, *, order):
    skills = Skill.objects.visible_to(actor).filter(usage_count__gte=usage, last_used_at__lt=before)
    return skills.select_related("team").order_by(order)


@prepared
def _searchable(actor, slug):
    return Skill.objects.searchable_by(actor).exclude(slug=slug).order_by("pk").values_list("slug", "tags")


@prepared
def _of_teams(actor, first):
    return Skill.objects.filter(Q(team__in=actor.team_ids) | Q(pk=first)).order_by("-pk").only("slug")


@prepared
def _numbers(actor):
    return count_rows(Skill.objects.discoverable_by(actor))


@prepared
def _by_visibility(actor):
    rows = Skill.objects.discoverable_by(actor).order_by("visibility")
    return rows.values_list("visibility").annotate(number=Count("pk"))


def _calls(actor, skills):
    now = timezone.now()
    yield _visible, (actor, 3, now - timedelta(days=5)), {"order": "-pk"}
    yield _visible, (actor, 0, now), {"order": "usage_count"}
    yield _searchable, (actor, skills[7].slug), {}
    yield _searchable, (actor, skills[8].slug), {}
    yield _of_teams, (actor, skills[11].pk), {}
    yield _numbers, (actor,), {}
    yield _by_visibility, (actor,), {}


def _contents(rows):
    return [
        {name: value for name, value in vars(row).items() if name != "_state"}
        if isinstance(row, Skill)
        else row
        for row in rows
    ]


def test_rows_equal_those_of_the_queryset_for_every_actor(actors, skills):
    for actor in actors:
        for read, args, constants in _calls(actor, skills):
            expected = _contents(read.build(*args, **constants))
            assert _contents(read(*args, **constants)) == expected


def test_joint_statement_fills_prepared_rows_and_querysets(actors, skills, django_assert_num_queries):
    for actor in actors:
        calls = list(_calls(actor, skills))
        others = [Team.objects.order_by("-slug"), Team.objects.annotate(number=F("pk")).order_by("pk")]
        expected = [_contents(read.build(*args, **constants)) for read, args, constants in calls]
        for more in ([], others, []):
            rows = [read(*args, **constants) for read, args, constants in calls]
            with django_assert_num_queries(1):
                evaluate(*rows, *more, *rows)
                assert [_contents(each) for each in rows] == expected
                assert not more or [vars(team)["number"] for team in more[1]] == sorted(
                    team.pk for team in more[0]
                )


def test_actors_with_the_same_shape_share_a_plan(actors, skills):
    shapes = {actor.query_shape for actor in actors}  # reads their memberships
    sql._plan.cache_clear()
    for actor in actors:
        _numbers(actor)
    assert sql._plan.cache_info().misses == len(shapes) <= len(actors) / 2 + 2
    assert len({_numbers(actor).plan for actor in actors}) == len(shapes)


def test_each_actor_gets_the_rows_of_own_teams(teams, skills):
    found = []
    for number, team in enumerate(teams):
        user = User.objects.create_user(f"member-{number}")
        _join(user, [team], Setting((Role.MEMBER,)))
        found.append({skill.team_id for skill in _of_teams(Actor(user=user), 0)})
    assert found == [{team.pk} for team in teams]


def test_memberships_that_change_change_the_shape(teams, skills, charlie):
    actor = Actor(user=charlie)
    before = len(_of_teams(actor, 0))
    _join(charlie, teams[:3], Setting((Role.MEMBER,) * 3))
    actor.forget_memberships()
    assert (before, len(_of_teams(actor, 0))) == (0, 30)


def test_actors_in_different_numbers_of_teams_share_plans(teams, skills):
    """The number of teams of each role counts as the next power of two."""
    plans, rows = [], []
    for number in (3, 4, 5):
        user = User.objects.create_user(f"member-of-{number}")
        _join(user, teams[:number], Setting((Role.MEMBER,) * number))
        found = _of_teams(Actor(user=user), 0)
        plans.append(found.plan)
        rows.append(len(found))
    assert plans[0] is plans[1] is not plans[2]
    assert rows == [30, 40, 50]


def test_value_that_becomes_no_parameter_is_refused(skills):
    @prepared
    def ignored(slug, other):
        return Skill.objects.filter(slug=slug)

    @prepared
    def sliced(slug, number):
        return Skill.objects.filter(slug=slug)[:number]

    for read in (ignored, sliced):
        with pytest.raises(AssertionError):
            read("skill-1", 2)


def test_time_of_building_is_refused(skills):
    """The plan would use the time at which it was built for ever."""

    @prepared
    def recent(slug):
        return Skill.objects.filter(slug=slug, last_used_at__gt=timezone.now() - timedelta(days=1))

    with pytest.raises(AssertionError):
        recent("skill-1")


def test_rows_that_need_more_than_one_statement_are_refused(skills, team):
    @prepared
    def with_others():
        return Skill.objects.prefetch_related("tag_rows")

    @prepared
    def of_team():
        return team.skills.all()

    @prepared
    def dictionaries():
        return Skill.objects.values("pk")

    for read in (with_others, of_team, dictionaries):
        with pytest.raises(AssertionError):
            read()


def test_column_of_an_actor_that_the_shape_omits_is_not_readable(alice):
    @prepared
    def of_name(actor):
        return Skill.objects.filter(slug=actor.user.username)

    with pytest.raises(User.DoesNotExist):
        of_name(Actor(user=alice))


def test_constants_have_plans_of_their_own(skills):
    @prepared
    def of_type(kind: str | None, *, numbers: tuple[int, ...]):
        rows = (
            Skill.objects.filter(usage_count__in=numbers).order_by("pk").values_list("usage_count", flat=True)
        )
        return rows if kind is None else rows.filter(type=kind)

    assert list(of_type(None, numbers=(3, 11))) == [3, 11]
    assert list(of_type("internal", numbers=(3, 11))) == [11]
    assert list(of_type("internal", numbers=(3, 22, 4))) == [22]
    assert list(of_type("", numbers=(3, 22, 4))) == [3, 4]
    assert list(of_type(None, numbers=())) == []


@dataclass(frozen=True)
class _Range:
    first: int
    last: int

    @property
    def query_shape(self) -> Any:
        return _RangeShape()

    @property
    def query_values(self) -> tuple[int, int]:
        return self.first, self.last


class _RangeShape(NamedTuple):
    kinds: tuple[type[int], ...] = (int, int)

    def example(self, values):
        return _Range(*values)


def test_any_object_with_a_shape_binds_its_values(actors, skills):
    @prepared
    def between(span, actor):
        return Skill.objects.visible_to(actor).filter(usage_count__range=(span.first, span.last))

    for actor in actors:
        for span in (_Range(0, 9), _Range(5, 50)):
            assert set(between(span, actor)) == set(between.build(span, actor))


@prepared
def _with_relations(least):
    rows = Skill.objects.select_related("team", "latest", "successor__team").annotate(more=F("pk") + 1)
    return rows.filter(usage_count__gte=least).defer("tags", "team__languages").order_by("pk")


def test_prepared_rows_have_the_state_of_those_that_django_makes(skills):
    Skill.objects.filter(pk=skills[3].pk).update(successor=skills[5])
    for one, other in zip(_with_relations(0), _with_relations.build(0), strict=True):
        pairs = [(one, other), (one.team, other.team)]
        if other.successor_id:
            pairs += [(one.successor, other.successor), (one.successor.team, other.successor.team)]
        for row, djangos in pairs:
            assert {**vars(row), "_state": None} == {**vars(djangos), "_state": None}
            assert (row._state.adding, row._state.db) == (False, "default")
            assert row._state.fields_cache == djangos._state.fields_cache
        assert one.tags == other.tags  # read when it is first used


def test_percent_signs_reach_the_database():
    assert sql.fetch_all("SELECT 'a%%b', %s", ["%s"]) == [("a%b", "%s")]
