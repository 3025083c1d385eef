"""What runs propose to remember: for whom, what is kept at once, what waits, what is the same."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.translation import gettext

from registry.models import Membership, Role, Team, User
from registry.packages.problems import CODES
from tests.worker.memory.remembering import end, write
from worker.core.opaque_ids import opaque_id
from worker.memory.store import MemoryQuery, store
from worker.models import Memory, MemoryTerm, MemoryWrite
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = pytest.mark.row("C10")


@pytest.fixture
def remember(hello, queue_run):
    """``remember(*writes, by=, team=)``: a run of Alice's that ended with these memory writes."""

    def ended(*writes, failure_code="", abp=False, **more):
        return end(queue_run(hello, **more), *writes, failure_code=failure_code, abp=abp)

    return ended


@pytest.fixture
def told(actor_of, alice):
    """``told(run, user)``: state and code of each memory write, as that person reads the run."""

    def read(run, user=None):
        document = run_document(run, actor=actor_of(user or alice))
        return [(each["state"], each["code"]) for each in document["memory_writes"]]

    return read


def contents(actor, **more):
    return sorted(memory.content for memory in store().list(MemoryQuery(actor, **more)))


ELSEWHERE = ("proposed", "MEMORY_OWNER_ELSEWHERE")


# Whose ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [None, "me", "alice", "uid", "opaque", "agent"])
def test_the_caller_is_meant_by_every_name_that_a_script_knows(remember, told, alice, actor_of, team, name):
    named = {"uid": alice.uid, "opaque": opaque_id("user", team, alice.uid),
             "agent": opaque_id("agent", team, alice.uid)}.get(name, name)  # fmt: skip
    assert told(remember(write(ownerId=named))) == [("committed", "")]
    assert contents(actor_of(alice)) == ["Alice lives in Graz"]


@pytest.mark.parametrize("name", [None, "me", "uid", "request-7"])
def test_a_run_remembers_for_itself(remember, hello, queue_run, told, actor_of, alice, name):
    run = queue_run(hello, context={"request_id": "request-7"})
    end(run, write(ownerType="task", ownerId=run.uid if name == "uid" else name))
    assert told(run) == [("committed", "")]
    assert Memory.objects.get().owner_run == run
    assert contents(actor_of(alice)) == ["Alice lives in Graz"]


@pytest.mark.parametrize("type_", ["household", "group"])
@pytest.mark.parametrize("name", [None, "docs", "uid", "opaque"])
def test_a_team_of_the_callers_is_meant_by_its_names_and_waits(remember, told, team, type_, name):
    named = {"uid": team.uid, "opaque": opaque_id("team", team, team.uid)}.get(name, name)
    assert told(remember(write(ownerType=type_, ownerId=named))) == [("waiting", "MEMORY_REVIEWED")]
    row = MemoryWrite.objects.get()
    assert (row.owner_team, row.owner_type, row.is_foreign) == (team, type_, False)


def test_a_stranger_learns_nothing_of_whether_an_owner_exists(remember, told, charlie, bob, team):
    absent = opaque_id("user", team, "nobody")
    colleague = opaque_id("user", team, bob.uid)
    names = [
        *(("user", name) for name in ("charlie", charlie.uid, "nobody", "anonymous", absent, colleague)),
        *((kind, name) for kind in ("group", "household") for name in ("elsewhere", "nowhere")),
        *(("task", name) for name in ("01kajq3s5d8m6v9x2c4b7n1p0z", "task-42")),
    ]
    run = remember(*(write(str(n), ownerType=kind, ownerId=name) for n, (kind, name) in enumerate(names)))
    assert told(run) == [ELSEWHERE] * len(names)
    assert Memory.objects.count() == 0
    waiting = MemoryWrite.objects.waiting()
    assert {row.owner_user for row in waiting if row.owner_user} == {charlie, bob}
    assert {row.owner_team.slug for row in waiting if row.owner_team} == {"elsewhere"}


def test_what_is_proposed_for_another_run_waits_for_its_caller(remember, told, bob, actor_of):
    theirs = remember(by=bob)
    mine = remember(write(ownerType="task", ownerId=theirs.uid))
    assert told(mine) == [ELSEWHERE]
    assert list(MemoryWrite.objects.decidable_by(actor_of(bob))) == list(MemoryWrite.objects.all())


def test_an_answer_that_a_team_shares_is_for_nobody_in_particular(publish_skill, queue_run, told, team):
    version = publish_skill(front="cacheable: true\ncache_scope: team\n")
    run = queue_run(version)
    end(run, write(ownerId=run.request["context"]["user_id"]))
    assert told(run) == [ELSEWHERE]
    assert Memory.objects.count() == MemoryWrite.objects.waiting().count() == 0


def test_a_run_of_nobody_remembers_for_nobody(hello):
    from registry.identity.actors import Actor
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    shell = Actor(is_shell=True)
    run = end(request_run(actor=shell, version=hello, request=Request()), write())
    (row,) = run_document(run, actor=shell)["memory_writes"]
    assert (row["state"], row["code"]) == ("refused", "MEMORY_OWNER_UNKNOWN")


def test_who_was_erased_meanwhile_is_no_owner(remember, told, hello, queue_run, alice):
    run = queue_run(hello)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    end(run, write())
    assert MemoryWrite.objects.get().state == "refused"


# What waits ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("setting", "own", "teams"),
    [("none", "committed", "committed"), ("team", "committed", "waiting"), ("all", "waiting", "waiting")],
)
def test_the_teams_setting_says_what_a_person_looks_at_first(remember, told, team, setting, own, teams):
    Team.objects.update(memory_review=setting)
    run = remember(write("a"), write("b", ownerType="task"), write("c", ownerType="group", ownerId="docs"))
    assert [state for state, _ in told(run)] == [own, own, teams]


def test_who_may_only_look_writes_nothing_into_a_teams_memory(remember, told, team, bob, alice):
    Team.objects.update(memory_review="none")
    run = remember(write(ownerType="group"), by=bob, team=team)
    assert told(run, bob) == [("committed", "")]
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    from worker.models import Run

    again = Run.objects.get(pk=run.pk)
    again.pk, again.uid, again.number, again.status, again.idempotency_key = None, "", 0, "queued", ""
    again.uid = "01kajq3s5d8m6v9x2c4b7n1p0z"
    again.save(force_insert=True)
    assert told(end(again, write("x", ownerType="group")), bob) == [("waiting", "MEMORY_REVIEWED")]


def test_another_team_of_the_callers_looks_first_whatever_it_says(remember, told, alice):
    other = Team.objects.create(slug="lab", name="Lab", memory_review="none")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    assert told(remember(write(ownerType="group", ownerId="lab"))) == [("waiting", "MEMORY_REVIEWED")]


def test_what_a_failed_run_proposes_waits(remember, told):
    assert told(remember(write(), failure_code="SCRIPT_FAILED")) == [("waiting", "MEMORY_RUN_FAILED")]


def test_a_stranger_cannot_fill_somebodys_queue(remember, charlie, settings):
    run = remember(*(write(str(n), ownerId="charlie") for n in range(60)))
    assert MemoryWrite.objects.waiting().filter(owner_user=charlie).count() == 20
    assert {each["state"] for each in _document(run)} == {"proposed"}


def test_a_queue_that_is_full_takes_no_more_and_says_so(remember, told, monkeypatch, team):
    monkeypatch.setattr("worker.memory.propose.MAX_WAITING", 2)
    run = remember(*(write(str(n), ownerType="group") for n in range(3)))
    assert told(run)[1:] == [("waiting", "MEMORY_REVIEWED"), ("refused", "MEMORY_QUEUE_FULL")]


def _document(run):
    from registry.identity.actors import Actor

    return run_document(run, actor=Actor(is_shell=True))["memory_writes"]


# What is the same ----------------------------------------------------------------------------------------
def test_the_same_is_remembered_once_with_its_sources(remember, told, alice):
    first = remember(write("Likes coffee.", importance=2, metadata={"from": "1"}))
    second = remember(write("likes  COFFEE", importance=4, metadata={"from": "2"}))
    memory = Memory.objects.get()
    assert (told(first), told(second)) == ([("committed", "")], [("merged", "")])
    assert (memory.content, memory.importance, memory.count) == ("Likes coffee.", 4, 2)
    assert memory.metadata == {"from": "2"}
    assert {row.run for row in memory.writes.all()} == {first, second}


def test_within_one_run_too(remember, told):
    run = remember(write("a"), write("a", importance=5), write("b"))
    assert [state for state, _ in told(run)] == ["committed", "merged", "committed"]
    assert sorted(Memory.objects.values_list("content", "count", "importance")) == [("a", 2, 5), ("b", 1, 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("uses C++", "uses C#"), ("costs 3.5", "costs 3 5"), ("喜欢咖啡", "喜欢茶"), ("likes tea", "liked tea")],
)
def test_what_only_looks_alike_is_not_the_same(remember, one, other):
    remember(write(one), write(other))
    assert Memory.objects.count() == 2


@pytest.mark.parametrize(
    ("one", "other"), [("喜欢咖啡", "喜欢咖啡。"), ("ＡＢＣ", "abc"), ("a\u202eb", "ab"), ("a\n b", "a b")]
)
def test_width_case_blanks_and_the_end_of_a_sentence_make_no_difference(remember, one, other):
    remember(write(one), write(other))
    assert Memory.objects.get().count == 2


def test_another_type_or_owner_is_another_memory(remember):
    remember(write("a"), write("a", type="event"), write("a", ownerType="task"))
    assert Memory.objects.count() == 3


# Runs ----------------------------------------------------------------------------------------------------
def test_a_run_without_memory_writes_pays_nothing(hello, queue_run):
    run = queue_run(hello)
    with CaptureQueriesContext(connection) as asked:
        end(run)
    assert [each["sql"] for each in asked if "worker_memory" in each["sql"]] == []


SCRIPT = """
    import json
    write = {"ownerType": "user", "ownerId": "me", "type": "preference", "importance": 3}
    write["content"] = "用户喜欢喝拿铁"
    print(json.dumps({"memoryWrites": [write, {**write, "importance": 9}]}))
"""


def test_a_real_run_leaves_its_memory_and_the_answer_from_the_cache_does_not_again(
    publish_skill, queue_run, alice, actor_of
):
    version = publish_skill("taste", SCRIPT, front="cacheable: true\n")
    document = run_document(execute_here(queue_run(version)), actor=actor_of(alice))
    (kept,) = document["memory_writes"]
    assert (kept["state"], kept["content"]) == ("committed", "用户喜欢喝拿铁")
    assert kept["memory"] == Memory.objects.get().uid
    assert "memoryWrites/1 was dropped" in document["warnings"][0]
    cached = run_document(queue_run(version), actor=actor_of(alice))
    assert (cached["cached"], cached["memory_writes"]) == (True, [])
    assert (Memory.objects.get().count, MemoryWrite.objects.count()) == (1, 1)


def test_a_second_attempt_does_not_double(hello, queue_run, told):
    from worker.models import Run
    from worker.queue.claims import claim_next

    run = queue_run(hello)
    Run.objects.filter(pk=run.pk).update(max_attempts=2)
    claim_next("gone:1", run_id=run.pk)
    Run.objects.filter(pk=run.pk).update(status="queued")
    end(run, write())
    assert (MemoryWrite.objects.get().attempt, Memory.objects.get().count) == (2, 1)
    assert told(run) == [("committed", "")]


def test_who_may_not_read_the_run_reads_no_memory_write(remember, bob, actor_of):
    assert "memory_writes" not in run_document(remember(write()), actor=actor_of(bob))


# Hostile content -----------------------------------------------------------------------------------------
def test_hostile_content_is_kept_harmless(remember, actor_of, alice):
    remember(write("<script>alert(1)</script>\0\ud800\u202egnp", metadata={"\0": ["\ud800", float("nan")]}))
    memory = Memory.objects.get()
    assert memory.content == "<script>alert(1)</script>\ufffd\ufffd\u202egnp"
    assert memory.metadata == {"\ufffd": ["\ufffd", None]}


def test_ten_thousand_writes_are_cut_with_a_warning(remember, told):
    run = remember(*(write(str(n)) for n in range(10_000)))
    assert run.result["warnings"] == ["memoryWrites: only the first 100 were kept"]
    assert Memory.objects.count() == len(told(run)) == 100


def test_one_memory_is_found_under_so_many_words_and_no_more(remember):
    remember(write(" ".join(f"w{n}" for n in range(900)) + "中文字符" * 100))
    assert MemoryTerm.objects.count() <= 1_000


def test_every_code_is_explained():
    ours = [code for code in CODES.values() if code.name.startswith("MEMORY_")]
    assert len(ours) > 7
    assert all(gettext(code.message) and gettext(code.remedy) for code in ours)
