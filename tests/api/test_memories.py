"""Memory by the API: listed, found, exported, deleted, decided."""

from __future__ import annotations

import pytest

from tests.api.conftest import assert_error
from tests.checks import not_none
from tests.worker.memory.remembering import ran, write
from worker.models import Memory, MemoryWrite

pytestmark = [pytest.mark.row("C10"), pytest.mark.django_db]


@pytest.fixture
def kept(version, alice):
    writes = [
        write("用户喜欢喝拿铁", type="preference", importance=5),
        write("Lives in Graz", metadata={"a": 1}),
    ]
    return ran(version, alice, *writes, write("Docs are in English", ownerType="group"))


def contents(answer):
    return sorted(item["content"] for item in answer.json()["items"])


def test_one_lists_and_finds_what_is_ones_own(kept, as_alice, as_bob, as_charlie):
    assert contents(as_alice.get("memories")) == ["Lives in Graz", "用户喜欢喝拿铁"]
    assert contents(as_alice.get("memories?q=拿铁")) == ["用户喜欢喝拿铁"]
    assert contents(as_alice.get("memories?owner=me&type=fact&importance=3&skill=docs/summarise")) == [
        "Lives in Graz"
    ]
    assert contents(as_alice.get("memories?until=2020-01-01T00:00:00Z")) == []
    first = as_alice.get("memories?limit=1").json()
    assert contents(as_alice.get(f"memories?limit=1&cursor={first['next_cursor']}")) != contents(
        as_alice.get("memories?limit=1")
    )
    for other in (as_bob, as_charlie):
        assert contents(other.get("memories?q=Graz")) == []
        assert_error(other.get(f"memories/{not_none(Memory.objects.first()).uid}"), 404, "NOT_FOUND")
    assert_error(as_charlie.get("memories?owner=docs"), 404, "NOT_FOUND")
    assert_error(as_charlie.get(f"memories?owner=run:{kept.uid}"), 404, "NOT_FOUND")
    assert_error(as_alice.get("memories?type=rumour"), 400, "QUERY_INVALID")


def test_the_export_is_one_document(kept, as_alice, as_charlie):
    answer = as_alice.get("memories/export?owner=me")
    assert contents(answer) == ["Lives in Graz", "用户喜欢喝拿铁"]
    assert answer["Cache-Control"] == "private, no-store"
    assert as_charlie.get("memories/export?owner=me").json() == {"items": []}
    assert_error(as_charlie.get("memories/export?owner=docs"), 404, "NOT_FOUND")
    assert_error(as_alice.get("memories/export"), 400, "QUERY_INVALID")


def test_one_deletes_and_restores_ones_own(kept, as_alice, as_charlie):
    uid = Memory.objects.get(content="Lives in Graz").uid
    assert_error(as_charlie("DELETE", f"memories/{uid}"), 404, "NOT_FOUND")
    assert as_alice("DELETE", f"memories/{uid}").status_code == 204
    assert_error(as_alice.get(f"memories/{uid}"), 410, "MEMORY_DELETED")
    assert_error(as_charlie.post(f"memories/{uid}/restore"), 404, "NOT_FOUND")
    assert as_alice.post(f"memories/{uid}/restore").json()["content"] == "Lives in Graz"
    assert as_alice("DELETE", "memories?owner=me").json() == {"deleted": 2}
    assert_error(as_alice("DELETE", "memories"), 400, "QUERY_INVALID")


def test_the_run_says_what_became_of_each_write(kept, as_alice):
    writes = as_alice.get(f"runs/{kept.uid}").json()["memory_writes"]
    assert [each["state"] for each in writes] == ["committed", "committed", "waiting"]
    assert as_alice.get(f"memories/{writes[0]['memory']}").json()["importance"] == 5


def test_maintainers_decide_what_is_for_their_team(kept, as_alice, as_bob, as_charlie):
    uid = MemoryWrite.objects.waiting().get().uid
    for other in (as_bob, as_charlie):
        assert other.get("memory-writes").json()["items"] == []
        assert_error(other.post(f"memory-writes/{uid}/decision", {"accept": True}), 404, "NOT_FOUND")
    (item,) = as_alice.get("memory-writes?owner=docs").json()["items"]
    assert (item["content"], item["skill"], item["proposed_by"]) == (
        "Docs are in English",
        "docs/summarise",
        "alice",
    )
    asked = {"accept": True, "content": "Docs speak English", "importance": 4}
    decided = as_alice.post(f"memory-writes/{uid}/decision", asked).json()
    assert (decided["state"], decided["content"]) == ("committed", "")
    assert contents(as_bob.get("memories?owner=docs")) == ["Docs speak English"]
    assert_error(as_alice.post(f"memory-writes/{uid}/decision", {"accept": False}), 409, "MEMORY_DECIDED")
    assert as_alice.post("memory-writes/decisions", {"ids": [uid], "accept": True}).json() == {
        "decided": 0,
        "skipped": 1,
    }


def test_tokens_read_and_decide_nothing(kept, alice, token_api, team):
    reader, runner = token_api(alice, "read"), token_api(alice, "run")
    uid = Memory.objects.get(content="Lives in Graz").uid
    assert reader.get(f"memories/{uid}").status_code == 200
    assert_error(runner.get("memories"), 403, "TOKEN_SCOPE_MISSING")
    assert_error(reader("DELETE", f"memories/{uid}"), 403, "FORBIDDEN")
    assert_error(reader.get("memory-writes"), 403, "FORBIDDEN")
    waiting = MemoryWrite.objects.waiting().get().uid
    assert_error(reader.post(f"memory-writes/{waiting}/decision", {"accept": True}), 403, "FORBIDDEN")
    assert contents(token_api(alice, "read", team=team).get("memories")) == []


def test_strangers_are_asked_to_sign_in(anonymous):
    for address in ("memories", "memory-writes", "memories/export?owner=me"):
        assert_error(anonymous.get(address), 401, "SIGN_IN_REQUIRED")
