"""The memory store: found by words, by owner and kind; deleted, restored; gone with what it came from."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.erasure import people
from registry.erasure.export import export_person
from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Tombstone, User
from registry.packages.problems import Refusal
from registry.versions.lifecycle import purge
from tests.checks import not_none
from tests.shell import api, refusal
from tests.worker.memory.remembering import end, ran, write
from worker.memory import find, review
from worker.memory.owners import Owner
from worker.memory.review import ReviewDecision
from worker.memory.store import MemoryQuery, store
from worker.models import Memory, MemoryTerm, MemoryWrite
from worker.retention import erase
from worker.service import reaper

pytestmark = pytest.mark.row("C10")
PUBLIC = {"visibility": "site"}


def code(call, *args, **more):
    with pytest.raises(Refusal) as refused:
        call(*args, **more)
    return refused.value.code


def found(text, actor, **more):
    return [memory.content for memory in store().search(text, MemoryQuery(actor, **more), limit=10)]


@pytest.fixture
def remembered(hello, alice):
    return ran(
        hello,
        alice,
        write("用户喜欢喝拿铁", type="preference", importance=5, metadata={"category": "drink"}),
        write("The project uses TypeScript", importance=4),
        write("Alice met Bob in Graz", type="event", importance=1),
        write("会话总结：拿铁太贵", type="summary", importance=2, ownerType="task"),
    )


# Finding -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("拿铁", ["用户喜欢喝拿铁", "会话总结：拿铁太贵"]),
        ("喜欢", ["用户喜欢喝拿铁"]),
        ("typescript projects", ["The project uses TypeScript"]),
        ("DRINK", ["用户喜欢喝拿铁"]),
        ("met bob", ["Alice met Bob in Graz"]),
        ("unheard of", []),
        ("…!?", []),
        ("", []),
    ],
)
def test_memory_is_found_by_its_words_in_english_and_chinese(remembered, actor_of, alice, text, contents):
    assert found(text, actor_of(alice)) == contents


def test_nobody_finds_what_is_another_persons(remembered, actor_of, bob, charlie):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    assert found("拿铁", actor_of(bob)) == ["会话总结：拿铁太贵"]  # of a run that maintainers read
    assert found("拿铁", actor_of(charlie)) == []
    assert code(find.find_memory, not_none(Memory.objects.first()).uid, actor_of(charlie)) == "NOT_FOUND"


def test_a_teams_token_has_nothing_of_its_owners_person(remembered, alice, team):
    from registry.models import Token

    bound = Actor(
        user=alice, token=Token(owner=alice, team=team, scopes=["read"]), scopes=frozenset({"read"})
    )
    assert found("拿铁", bound) == ["会话总结：拿铁太贵"]
    assert code(find.find_owner, "me", bound) == "MEMORY_OWNER_MISSING"
    assert (
        code(find.delete, find.find_memory(Memory.objects.get(owner_type="task").uid, bound), bound)
        == "FORBIDDEN"
    )


def test_filters_narrow(remembered, actor_of, alice):
    actor = actor_of(alice)

    def listed(**more):
        return store().list(MemoryQuery(actor, **more)).count()

    assert listed() == 4
    assert listed(types=frozenset({"event", "fact"})) == 2
    assert listed(importance=4) == 2
    assert listed(owner=Owner("", user_id=alice.pk)) == 3
    assert (listed(skill="docs/hello"), listed(skill="docs/other")) == (4, 0)
    assert listed(since=timezone.now() + timedelta(hours=1)) == 0
    assert listed(until=timezone.now() + timedelta(hours=1)) == 4


def test_the_export_is_all_of_it(remembered, actor_of, alice):
    documents = list(store().export(MemoryQuery(actor_of(alice))))
    assert [each["importance"] for each in documents] == [5, 4, 1, 2]
    assert documents[0]["owner"] == {"type": "user", "name": "alice"}
    assert documents[3]["owner"] == {"type": "task", "name": remembered.uid}


# Deleting ------------------------------------------------------------------------------------------------
def test_a_deleted_memory_is_found_by_nobody_and_empty_after_a_while(remembered, actor_of, alice):
    actor, memory = actor_of(alice), Memory.objects.get(content="用户喜欢喝拿铁")
    find.delete(memory, actor)
    assert found("喜欢", actor) == []
    assert code(find.find_memory, memory.uid, actor) == "MEMORY_DELETED"
    find.restore(memory.uid, actor)
    assert found("喜欢", actor) == ["用户喜欢喝拿铁"]
    find.delete(find.find_memory(memory.uid, actor), actor)
    Memory.objects.filter(pk=memory.pk).update(deleted_at=timezone.now() - timedelta(hours=1))
    reaper.sweep_once()
    memory.refresh_from_db()
    assert (memory.content, memory.metadata, MemoryTerm.objects.filter(memory=memory).count()) == ("", {}, 0)
    assert code(find.restore, memory.uid, actor) == "MEMORY_DELETED"
    assert AuditEntry.objects.filter(action="memory.delete", target=memory.uid).count() == 2


def test_what_was_deleted_can_be_remembered_again(hello, alice, actor_of):
    ran(hello, alice, write())
    first = Memory.objects.get()
    find.delete(first, actor_of(alice))
    ran(hello, alice, write())
    assert Memory.objects.present().get().pk != first.pk
    assert code(find.restore, first.uid, actor_of(alice)) == "MEMORY_DELETED"


def test_memory_that_is_not_deleted_is_restored_without_a_change(remembered, actor_of, alice):
    memory = Memory.objects.get(content="用户喜欢喝拿铁")
    assert find.restore(memory.uid, actor_of(alice)) == memory
    assert not AuditEntry.objects.filter(action="memory.restore").exists()


def test_members_delete_no_memory_of_the_team(hello, alice, bob, actor_of, team):
    team.memory_review = "none"
    team.save()
    ran(hello, alice, write(ownerType="group"))
    memory = Memory.objects.get()
    assert find.find_memory(memory.uid, actor_of(bob)) == memory
    assert code(find.delete, memory, actor_of(bob)) == "FORBIDDEN"
    assert code(find.delete_all, Owner("", team_id=team.pk), actor_of(bob)) == "FORBIDDEN"
    assert find.delete_all(Owner("", team_id=team.pk), actor_of(alice)) == 1


def test_audit_log_names_the_owner_whose_memories_were_deleted(hello, alice, actor_of, team):
    run, actor = ran(hello, alice, write()), actor_of(alice)
    names = ["me", "docs", f"run:{run.uid}"]
    for name in names:
        find.delete_all(find.find_owner(name, actor), actor)
    entries = AuditEntry.objects.filter(action="memory.delete_all").order_by("pk")
    assert list(entries.values_list("target", "team")) == [*zip(names, (None, team.pk, None), strict=True)]


# Deciding ------------------------------------------------------------------------------------------------
def test_a_memory_for_somebody_else_reaches_them_by_their_own_word_alone(
    publish_skill, alice, charlie, actor_of
):
    ran(publish_skill(**PUBLIC), alice, write("Charlie likes tea", ownerId="charlie"))
    assert found("tea", actor_of(charlie)) == found("tea", actor_of(alice)) == []
    row = review.queue(actor_of(charlie)).get()
    root = Actor(user=User.objects.create_user("root2", is_superuser=True))
    for other in (actor_of(alice), root):
        assert code(review.decide, row, ReviewDecision(True), other) == "NOT_FOUND"
    review.decide(row, ReviewDecision(True, content="Likes green tea"), actor_of(charlie))
    assert found("tea", actor_of(charlie)) == ["Likes green tea"]
    assert found("tea", actor_of(alice)) == []
    assert code(review.decide, row, ReviewDecision(False), actor_of(charlie)) == "MEMORY_DECIDED"
    assert AuditEntry.objects.filter(action="memory.accept").get().detail == {"edited": True}


def test_no_token_decides(hello, alice, team):
    from registry.models import Token

    ran(hello, alice, write(ownerType="group"))
    bound = Actor(user=alice, token=Token(owner=alice, scopes=["read", "run", "publish"]))
    assert review.queue(bound).count() == 0
    uid = MemoryWrite.objects.get().uid
    assert code(review.find_write, uid, bound) == "FORBIDDEN"


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        ({"content": ""}, "TEXT_INVALID"),
        ({"content": "x\0"}, "TEXT_INVALID"),
        ({"type": "rumour"}, "MEMORY_FIELD_INVALID"),
        ({"importance": 9}, "MEMORY_FIELD_INVALID"),
    ],
)
def test_what_is_no_memory_is_not_accepted(hello, alice, actor_of, wrong, refused):
    ran(hello, alice, write(ownerType="group"))
    row = MemoryWrite.objects.get()
    assert code(review.decide, row, ReviewDecision(True, **wrong), actor_of(alice)) == refused
    assert MemoryWrite.objects.waiting().count() == 1


def test_what_nobody_decides_in_time_is_declined(hello, alice, settings):
    ran(hello, alice, write(ownerType="group"))
    MemoryWrite.objects.update(created_at=timezone.now() - timedelta(days=31))
    reaper.sweep_once()
    row = MemoryWrite.objects.get()
    assert (row.state, row.code, row.content) == ("declined", "MEMORY_EXPIRED", "")


def test_what_is_decided_holds_its_content_no_longer(hello, alice, actor_of):
    ran(hello, alice, write("a"), write("b", ownerType="group"), write("c", ownerType="group"))
    first, second = review.queue(actor_of(alice))
    review.decide(first, ReviewDecision(True), actor_of(alice))
    review.decide(second, ReviewDecision(False), actor_of(alice))
    assert {row.content for row in MemoryWrite.objects.all()} == {""}


# What goes with what -------------------------------------------------------------------------------------
@pytest.mark.row("P12")
def test_with_a_runs_content_goes_what_it_alone_said_and_nobody_took_over(hello, alice, actor_of):
    actor = actor_of(alice)
    teams = [write("c", ownerType="group"), write("d", ownerType="group")]
    run = ran(hello, alice, write("a"), write("b"), *teams, write("e", ownerType="task"))
    ran(hello, alice, write("b"))
    review.decide(not_none(review.queue(actor).first()), ReviewDecision(True), actor)
    erase.erase_run(run, actor=actor)
    assert sorted(Memory.objects.values_list("content", "count")) == [("b", 1), ("c", 1)]
    assert MemoryWrite.objects.filter(run=run).count() == 0


@pytest.mark.row("P12")
def test_with_a_purged_version_goes_what_its_runs_left(hello, alice, actor_of):
    ran(hello, alice, write("a"))
    purge.purge_version(hello, actor_of(alice), reason="for tests")
    assert Tombstone.objects.exists()
    assert Memory.objects.count() == MemoryTerm.objects.count() == 0


@pytest.mark.row("P12")
def test_a_person_takes_their_memory_along_and_leaves_none(publish_skill, alice, charlie, actor_of):
    version = publish_skill(**PUBLIC)
    ran(version, charlie, write("Charlie lives in Linz"))
    ran(version, alice, write("Charlie likes tea", ownerId="charlie"))
    document = export_person(charlie, actor_of(charlie))
    assert [each["content"] for each in document["memories"]] == ["Charlie lives in Linz"]
    assert [each["content"] for each in document["memory_proposals"]] == ["Charlie likes tea"]
    other = User.objects.create_user("other")
    Membership.objects.create(team=charlie.memberships.get().team, user=other, role=Role.OWNER)
    people.erase_person(charlie, actor_of(charlie))
    assert Memory.objects.count() == MemoryTerm.objects.count() == 0
    assert not MemoryWrite.objects.exclude(content="").exists()


def test_a_run_that_ends_after_its_person_was_erased_remembers_nothing(publish_skill, queue_run, charlie):
    run = queue_run(publish_skill(**PUBLIC), by=charlie)
    User.objects.filter(pk=charlie.pk).update(erased_at=timezone.now(), is_active=False)
    end(run, write())
    assert Memory.objects.count() == 0


# From the shell -------------------------------------------------------------------------------------------
def test_shell_finds_exports_deletes_restores_and_decides(remembered, hello, alice):
    def memory(method, path="", body=None):
        status, document = api(method, f"memories{path}", body, by="alice")
        assert status == 0
        return document

    assert [each["content"] for each in memory("GET", "?q=拿铁&owner=me")["items"]] == ["用户喜欢喝拿铁"]
    assert len(memory("GET", "/export?owner=me")["items"]) == 3
    assert len(memory("GET", "?type=fact&importance=4")["items"]) == 1
    uid = memory("GET", "?q=Graz")["items"][0]["id"]
    memory("DELETE", f"/{uid}")
    assert memory("GET", "?q=Graz")["items"] == []
    assert memory("POST", f"/{uid}/restore")["id"] == uid
    ran(hello, alice, write("x", ownerType="group"), write("y", ownerType="group"))
    waiting = api("GET", "memory-writes?owner=docs", by="alice")[1]["items"]
    decisions = {
        api("POST", f"memory-writes/{each['id']}/decision", {"accept": accept}, by="alice")[1]["state"]
        for each, accept in zip(waiting, (True, False), strict=True)
    }
    assert decisions == {"committed", "declined"}
    assert memory("DELETE", "?owner=me")["deleted"] == 3
    assert refusal("GET", "memories?owner=nowhere", by="alice") == "NOT_FOUND"
