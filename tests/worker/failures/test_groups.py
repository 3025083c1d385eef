"""Who sees which error groups, with which figures."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from registry.identity.errors import FORBIDDEN
from registry.models import Membership, Role, Team
from registry.packages.problems import Refusal
from worker.failures import changes
from worker.failures.groups import (
    GroupFilter,
    callers_of,
    find_group,
    list_groups,
    runs_of,
    versions_of,
)
from worker.failures.newest import failures_per_day
from worker.models import ErrorGroup, Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P6")]


@pytest.fixture
def open_skill(publish_skill):
    return publish_skill("open", visibility="site")


def seen(actor, **chosen):
    return list_groups(actor, GroupFilter(**chosen), limit=50)


def test_team_sees_all_failures_and_others_only_their_own(fail, open_skill, actor_of, alice, bob, charlie):
    for by in (alice, bob, charlie):
        fail(version=open_skill, by=by)
    for person, count in ((alice, 3), (bob, 3), (charlie, 1)):
        view = seen(actor_of(person))[0]
        assert (view.count, find_group(view.group.uid, actor_of(person)).count) == (count, count)
        assert sum(row.count for row in versions_of(view.group, actor_of(person))) == count
        assert len(callers_of(view.group, actor_of(person))) == count
        assert runs_of(view.group, actor_of(person)).count() == count


def test_cause_is_shown_only_with_a_readable_run(fail, open_skill, actor_of, alice, charlie):
    fail("Kestrel", version=open_skill, by=charlie)
    assert [view.pattern for view in seen(actor_of(charlie))] == ["ValueError: Kestrel"]
    view = seen(actor_of(alice))[0]  # the skill's team sees the run, but can't read its content
    assert (view.readable, view.pattern, view.count) == (False, "", 1)


def test_failures_of_others_change_nothing_for_a_caller(fail, open_skill, actor_of, alice, charlie):
    fail("one", version=open_skill, by=charlie)
    fail("two", version=open_skill, by=charlie)

    def figures():
        return [(v.group.uid, v.count, v.first_seen, v.last_seen) for v in seen(actor_of(charlie))]

    before = figures()
    fail("one", version=open_skill, by=alice)
    fail("three", version=open_skill, by=alice)
    assert figures() == before


def test_stranger_sees_no_group(fail, actor_of, charlie):
    fail()
    assert seen(actor_of(charlie)) == []
    with pytest.raises(Refusal) as refused:
        find_group(ErrorGroup.objects.get().uid, actor_of(charlie))
    assert refused.value.code == "NOT_FOUND"


def test_groups_are_filtered_and_sorted_by_the_last_failure(fail, open_skill, actor_of, alice, bob):
    fail("one")
    fail("two", version=open_skill)
    fail("one")
    actor = actor_of(alice)
    one, two = seen(actor)
    assert (one.group.message, two.group.message) == ("one", "two")
    assert [v.group.message for v in seen(actor, skill="docs/open")] == ["two"]
    assert seen(actor, team="other") == seen(actor, state="resolved") == []
    changes.assign(one.group, "bob", actor)
    assert [v.group.message for v in seen(actor_of(bob), assigned_to_me=True)] == ["one"]
    changes.resolve(two.group, "2.0", actor)
    assert [v.group.resolved_in for v in seen(actor, state="resolved")] == ["2.0.0"]


@pytest.mark.parametrize("examined", [1, 500])
@pytest.mark.parametrize("person", ["alice", "charlie"])
def test_pages_have_every_group_once(fail, open_skill, actor_of, request, person, examined, monkeypatch):
    monkeypatch.setattr("worker.failures.groups._NEWEST_OF_SITE", examined)
    user = request.getfixturevalue(person)
    causes = ["one", "two", "three", "four"]
    for cause in (*causes, "one"):
        fail(cause, version=open_skill, by=user)
    moment = ErrorGroup.objects.order_by("last_seen")[0].last_seen + timedelta(hours=1)
    for group in ErrorGroup.objects.all()[:2]:  # the same moment twice
        group.counts.update(last_seen=moment)
        ErrorGroup.objects.filter(pk=group.pk).update(last_seen=moment)
    found, after = [], None
    while views := list_groups(actor_of(user), GroupFilter(), limit=1, after=after):
        found.append(views[0].group.message)
        after = views[0].position
    assert sorted(found) == sorted(causes)


def test_queries_do_not_grow_with_the_groups(
    fail, open_skill, actor_of, charlie, django_assert_max_num_queries
):
    for cause in ("one", "two", "three", "four", "five"):
        fail(cause, version=open_skill, by=charlie)
    with django_assert_max_num_queries(6):
        assert len([(v.pattern, v.group.assigned_to) for v in seen(actor_of(charlie))]) == 5


def test_only_maintainers_change_a_group(fail, actor_of, alice, bob, charlie):
    fail()
    group = find_group(ErrorGroup.objects.get().uid, actor_of(alice)).group
    for change in (
        lambda actor: changes.resolve(group, "1.0.1", actor),
        lambda actor: changes.reopen(group, actor),
        lambda actor: changes.assign(group, "alice", actor),
    ):
        with pytest.raises(Refusal) as refused:
            change(actor_of(bob))
        assert refused.value.code == FORBIDDEN.name
        change(actor_of(alice))
    with pytest.raises(Refusal) as refused:
        changes.assign(group, "charlie", actor_of(alice))
    assert refused.value.code == "ERROR_GROUP_ASSIGNEE_INVALID"
    with pytest.raises(Refusal) as refused:
        changes.resolve(group, "next", actor_of(alice))
    assert refused.value.code == "ERROR_GROUP_VERSION_INVALID"


def test_maintainer_of_the_callers_team_reads_the_cause(fail, open_skill, actor_of, bob, charlie):
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(user=charlie, team=other, role=Role.MEMBER)
    fail("Kestrel", version=open_skill, by=charlie, team=other)
    Membership.objects.create(user=bob, team=other, role=Role.MAINTAINER)
    assert [view.readable for view in seen(actor_of(bob))] == [True]


def test_days_count_the_newest_runs_that_the_actor_can_see(
    fail, open_skill, actor_of, alice, charlie, monkeypatch
):
    monkeypatch.setattr("worker.failures.newest.MAX_COUNTED", 3)
    today = timezone.now().astimezone(UTC).date()
    first, yesterday = today - timedelta(days=13), today - timedelta(days=1)
    for cause in ("one", "one", "two", "two", "two", "two"):
        fail(cause, version=open_skill, by=charlie)
    fail("one", version=open_skill, by=alice)
    earlier = [run.pk for run in Run.objects.order_by("-pk")[2:4]]  # of the group "two"
    Run.objects.filter(pk__in=earlier).update(finished_at=timezone.now() - timedelta(days=1))
    one, two = ErrorGroup.objects.order_by("message")

    def days(person):
        found = failures_per_day([one, two], actor_of(person), first=first)
        return [(each.counts, each.complete_from) for each in (found[one.pk], found[two.pk])]

    assert days(alice) == [({today: 3}, first), ({today: 1, yesterday: 2}, today + timedelta(days=1))]
    assert days(charlie)[0] == ({today: 2}, first)
