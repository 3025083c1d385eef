"""Several querysets are read with one statement, and their rows are those of separate statements."""

from __future__ import annotations

import pytest
from django.db.models import F

from registry.core.sql import count_rows, evaluate, gather, read_together, reader, reads_of
from registry.models import Skill, User, Version
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]


@pytest.fixture
def versions(team, alice):
    return [publish_files(tidy_files(number), team=team, user=alice) for number in ("1.0.0", "1.1.0")]


def _querysets():
    return (
        Skill.objects.select_related("team", "latest").defer("latest__body"),
        Version.objects.order_by("-pk").values_list("number", "created_at", "manifest", "yanked_at"),
        Version.objects.order_by("number").values_list("number", flat=True)[1:],
        User.objects.annotate(role=F("memberships__role")).order_by("username"),
        Version.objects.filter(pk__in=[]),
        count_rows(Version.objects.all()),
    )


def test_rows_of_a_joint_statement_equal_those_of_separate_ones(versions, django_assert_num_queries):
    joint, separate = _querysets(), _querysets()
    with django_assert_num_queries(1):
        evaluate(*joint)
    with django_assert_num_queries(0):
        found = [list(each) for each in joint]
        assert found[0][0].team.slug == "docs"
    assert found == [list(each) for each in separate]
    assert [user.role for user in found[3]] == [user.role for user in separate[3]]
    assert found[5] == [2]


def test_queryset_derived_from_an_evaluated_one_reads_its_own_rows(versions):
    numbers = Version.objects.order_by("pk").values_list("number", flat=True)
    evaluate(numbers, Skill.objects.all())
    assert list(numbers.filter(number="1.1.0")) == ["1.1.0"]


def test_readers_share_a_statement_for_each_step(versions, django_assert_num_queries):
    @reader
    def latest():
        yield (skills := Skill.objects.values_list("latest_id", flat=True))
        yield (rows := Version.objects.filter(pk__in=list(skills)).values_list("number", flat=True))
        return list(rows)

    def both():
        number, _none = yield from gather(latest.reads(), reads_of())
        return number

    users = User.objects.order_by("username").values_list("username", flat=True)
    with django_assert_num_queries(2):
        found = read_together(latest.reads(), both(), reads_of(users))
    assert found == (["1.1.0"], ["1.1.0"], None)
    assert latest() == ["1.1.0"]
    assert len(users) > 0
