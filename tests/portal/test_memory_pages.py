"""The pages of memory: one's own, a team's, what waits, and what a run's page says of it."""

from __future__ import annotations

import pytest

from tests.checks import not_none
from tests.pages import actions, messages, part, parts
from tests.worker.memory.remembering import ran, write
from worker.models import Memory, MemoryWrite

pytestmark = [pytest.mark.row("C10", "P8"), pytest.mark.django_db]


def _ran(version, user, *writes):
    return ran(version, user, *writes, inputs={"notes": "n", "language": "en"})


@pytest.fixture
def kept(private, alice):
    """Three memories of Alice's, and one proposal for the team that waits."""
    version = private.latest
    writes = [
        write("用户喜欢喝拿铁", type="preference", importance=5),
        write("Lives in Graz"),
        write("Met Bob"),
    ]
    return _ran(version, alice, *writes, write("Docs are in English", ownerType="group"))


def test_one_sees_finds_and_exports_ones_own(kept, browse, alice, bob, charlie):
    page = browse(alice).get("/memory/").content.decode()
    assert all(text in page for text in ("用户喜欢喝拿铁", "Lives in Graz"))
    assert part(page, "proposals")["value"] == "1"
    found = browse(alice).get("/memory/", {"q": "拿铁"}).content.decode()
    assert "用户喜欢喝拿铁" in found
    assert "Graz" not in found
    assert part(browse(alice).get("/memory/?q=tea"), "empty")["state"] == "filtered"
    assert "Graz" not in browse(alice).get("/memory/?importance=4").content.decode()
    assert len(browse(alice).get("/memory/export/").json()["items"]) == 3
    for other in (bob, charlie):
        assert "Lives in Graz" not in browse(other).get("/memory/", {"q": "Graz"}).content.decode()
        assert browse(other).get("/memory/export/").json() == {"items": []}
        assert browse(other).get(f"/memory/{not_none(Memory.objects.first()).uid}/").status_code == 404
    assert part(browse(charlie).get("/memory/"), "empty")["state"] == "none"


def test_one_deletes_and_takes_it_back(kept, browse, alice, bob):
    memory = Memory.objects.get(content="Lives in Graz")
    assert browse(bob).post(f"/memory/{memory.uid}/delete/").status_code == 404
    page = browse(alice).post(f"/memory/{memory.uid}/delete/", follow=True).content.decode()
    assert "Lives in Graz" not in page
    assert f"/memory/{memory.uid}/restore/" in page
    assert browse(alice).get(f"/memory/{memory.uid}/").status_code == 410
    assert (
        "Lives in Graz" in browse(alice).post(f"/memory/{memory.uid}/restore/", follow=True).content.decode()
    )


def test_all_is_deleted_after_a_question_and_taken_back(kept, browse, alice):
    client = browse(alice)
    assert part(client.get("/memory/clear/"), "clear-warning")["value"] == "3"
    done = client.post("/memory/clear/", follow=True)
    assert (messages(done), actions(done)) == (["success"], ["undo"])
    assert "3" in part(done, "message").text
    assert Memory.objects.present().count() == 0
    client.post("/memory/undo/")
    assert Memory.objects.present().count() == 3


def test_maintainers_decide_for_their_team_and_its_members_read(kept, browse, alice, bob, charlie):
    uid = MemoryWrite.objects.waiting().get().uid
    assert "Docs are in English" in browse(alice).get("/memory/review/?owner=docs").content.decode()
    for other in (bob, charlie):
        assert "Docs are in English" not in browse(other).get("/memory/review/").content.decode()
        assert browse(other).get(f"/memory/review/{uid}/").status_code == 404
        browse(other).post("/memory/review/", {"decision": f"accept {uid}"})
        assert MemoryWrite.objects.waiting().count() == 1
    sent = {"decision": "accept", "content": "Docs speak English", "type": "fact", "importance": "4"}
    page = browse(alice).post(f"/memory/review/{uid}/", sent, follow=True)
    assert "Docs speak English" in page.text
    assert messages(page) == ["success"]
    assert "delete" in actions(browse(alice).get("/teams/docs/memory/"))
    memory = part(browse(bob).get("/teams/docs/memory/"), "memory")
    assert "Docs speak English" in memory
    assert actions(memory) == []
    assert browse(charlie).get("/teams/docs/memory/").status_code == 404
    assert browse(charlie).get("/teams/docs/memory/export/").status_code == 404


def test_several_are_decided_at_once(private, alice, browse):
    _ran(private.latest, alice, *(write(str(n), ownerType="group") for n in range(3)))
    uids = list(MemoryWrite.objects.order_by("pk").values_list("uid", flat=True))
    client = browse(alice)
    assert messages(client.post("/memory/review/", {"decision": "accept"}, follow=True)) == ["info"]
    assert MemoryWrite.objects.waiting().count() == 3
    client.post("/memory/review/", {"decision": "accept", "proposal": uids[:2]})
    client.post("/memory/review/", {"decision": f"decline {uids[2]}"})
    assert [row.state for row in MemoryWrite.objects.order_by("pk")] == ["committed", "committed", "declined"]


def test_what_is_wrong_in_a_change_is_said_beside_it(private, alice, browse):
    _ran(private.latest, alice, write("x", ownerType="group"))
    uid = MemoryWrite.objects.get().uid
    answer = browse(alice).post(
        f"/memory/review/{uid}/", {"decision": "accept", "content": "", "type": "fact"}
    )
    assert answer.status_code == 422
    assert MemoryWrite.objects.get().state == "waiting"


def test_a_strangers_proposal_names_no_skill_that_one_may_not_see(private, alice, charlie, browse):
    _ran(private.latest, alice, write("Charlie owes money", ownerId="charlie"))
    page = browse(charlie).get("/memory/review/")
    proposal = part(page, "proposal")
    assert "Charlie owes money" in proposal
    assert parts(proposal, "hidden-skill")
    assert "weekly-report" not in page.text
    client = browse(charlie)
    client.post("/memory/review/", {"decision": f"accept {MemoryWrite.objects.get().uid}"})
    assert "weekly-report" not in client.get("/memory/").content.decode()
    run_page = browse(alice).get(f"/runs/{MemoryWrite.objects.get().run.uid}/")
    assert part(run_page, "memory-write").values("state") == ["proposed"]


def test_the_runs_page_says_what_became_of_each_and_leads_there(kept, browse, alice):
    page = browse(alice).get(f"/runs/{kept.uid}/").content.decode()
    states = [row.values("state") for row in parts(page, "memory-write")]
    assert states == [["committed"]] * 3 + [["waiting"]]
    assert f"/memory/{not_none(Memory.objects.first()).uid}/" in page
    assert f"/memory/review/{MemoryWrite.objects.waiting().get().uid}/" in page


def test_hostile_content_is_shown_and_not_believed(private, alice, browse):
    hostile = "<script>alert(1)</script>\u202egnp"
    _ran(
        private.latest, alice, write(hostile, metadata={hostile: hostile}), write(hostile, ownerType="group")
    )
    memory, client = Memory.objects.get(), browse(alice)
    for address in (
        "/memory/",
        f"/memory/{memory.uid}/",
        "/memory/review/",
        f"/runs/{not_none(MemoryWrite.objects.first()).run.uid}/",
    ):
        page = client.get(address).content.decode()
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "\u202e" not in page


def test_a_team_says_what_it_looks_at(team, alice, browse):
    sent = {"languages": ["zh"], "memory_review": "all"}
    assert browse(alice).post("/teams/docs/settings/", sent).status_code == 302
    team.refresh_from_db()
    assert team.memory_review == "all"


def test_the_pages_speak_chinese_and_send_strangers_to_sign_in(kept, browse, alice):
    assert browse(alice, "zh-hans").get("/memory/").status_code == 200
    for address in ("/memory/", "/memory/review/", "/memory/export/", "/memory/clear/"):
        assert browse().get(address).status_code == 302
