"""The pages of canonical skills: the public view, and the view of administrators before a change."""

from __future__ import annotations

import pytest

from registry.canonical import pins
from registry.identity.actors import Actor
from registry.models import Canonical
from registry.versions.lifecycle.settings import set_visibility
from tests.checks import not_none
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import actions, codes, messages, parsed, part, parts, select
from worker.service.import_jobs import import_waiting

pytestmark = [pytest.mark.django_db, pytest.mark.row("D10")]


def text_of(answer):
    return answer.content.decode()


@pytest.fixture
def publish(team, alice):
    def make(version="1.0.0", more="", text="Write it."):
        head = f"name: report\ndescription: Writes a report.\nversion: {version}\n{more}"
        files = {"SKILL.md": f"---\n{head}\n---\n{text}\n".encode()}
        return publish_files(files, team=team, user=alice, visibility="public")

    return make


@pytest.fixture
def first(publish):
    return publish()


@pytest.fixture
def as_root(browse, administrator):
    return browse(administrator)


@pytest.fixture
def pinned(first, administrator):
    return pins.set_canonical("report", first, Actor(user=administrator), reason="Ours.")


def test_a_skill_is_chosen_previewed_and_set(first, as_root):
    listed = parsed(as_root.get("/canonical/"))
    assert listed.parts("empty")
    assert not listed.parts("canonical")
    assert "preview" in actions(as_root.get("/canonical/new/"))
    shown = parsed(as_root.get("/canonical/new/?skill=docs/report"))
    assert first.digest in shown
    assert shown.part("affected")["value"] == "0"
    assert not shown.parts("caller")
    sent = {"skill": "docs/report", "version": "1.0.0", "digest": first.digest, "tracked_channel": "latest"}
    assert as_root.post("/canonical/new/", sent).status_code == 422  # no reason
    done = as_root.post("/canonical/new/", {**sent, "reason": "Reviewed."}, follow=True)
    assert messages(done) == ["success"]
    assert "docs/report@1.0.0" in part(done, "message")
    assert Canonical.objects.get().digest == first.digest


def test_what_cannot_be_set_says_why(as_root, first, alice):
    set_visibility(first.skill, "private", Actor(user=alice))
    answer = as_root.get("/canonical/new/?skill=docs/report")
    assert (answer.status_code, codes(part(answer, "errors"))) == (422, ["CANONICAL_PRIVATE"])
    unknown = as_root.get("/canonical/new/?skill=docs/nothing")
    assert codes(part(unknown, "errors")) == ["NOT_FOUND"]


def test_everybody_reads_what_is_pinned_and_administrators_what_waits(
    pinned, publish, browse, charlie, administrator, as_root
):
    second = publish("2.0.0", more="allowed-tools: Bash", text="Write it better.")
    for browser in (browse(), browse(charlie)):
        seen = text_of(browser.get("/canonical/report/"))
        assert "docs/report@<bdi>1.0.0</bdi>" in seen
        assert "/api/v1/canonical/report/text" in seen
        assert not parts(seen, "proposal")
        assert not parts(seen, "change")
        assert "_canonical_report" in text_of(browser.get("/canonical/"))
    seen = text_of(as_root.get("/canonical/report/"))
    proposal = part(seen, "proposal")
    assert second.digest in proposal
    assert "Bash" in proposal.part("added-permissions")
    assert "<mark> better</mark>" in seen
    assert parts(seen, "change")
    make_run(second, administrator, None)
    listed = as_root.get("/canonical/")
    assert part(listed, "proposed")["value"] == "2.0.0"
    assert part(listed, "strip")["value"] == "100"


def test_a_change_is_accepted_or_rejected_on_its_page(pinned, publish, as_root):
    second = publish("2.0.0")
    sent = {"digest": second.digest, "reason": "", "decision": "reject"}
    empty = as_root.post("/canonical/report/decide/", sent, follow=True)
    assert part(empty, "message")["code"] == "TEXT_INVALID"
    assert parts(empty, "proposal")
    done = as_root.post("/canonical/report/decide/", {**sent, "reason": "No."}, follow=True)
    assert messages(done) == ["success"]
    assert not parts(done, "proposal")
    assert Canonical.objects.get().digest == pinned.digest
    third = publish("3.0.0")
    late = {"digest": second.digest, "decision": "accept"}
    changed = as_root.post("/canonical/report/decide/", late, follow=True)
    assert messages(changed) == ["error"]
    assert third.digest in part(changed, "message")
    done = as_root.post("/canonical/report/decide/", {**late, "digest": third.digest}, follow=True)
    assert messages(done) == ["success"]
    assert Canonical.objects.get().digest == third.digest


def test_who_runs_it_by_its_canonical_name_is_led_to_what_was_accepted(pinned, publish, as_root):
    publish("2.0.0", text="Write something else.")
    answer = as_root.get("/skills/_canonical_/report/run/")
    assert answer["Location"] == "/skills/docs/report/use/?version=1.0.0"


def test_what_was_replaced_or_taken_away_is_pinned_again_from_the_history(
    pinned, publish, as_root, administrator
):
    second = publish("2.0.0")
    pins.accept("report", Actor(user=administrator), digest=second.digest)
    again = "/canonical/new/?skill=docs/report&amp;version=1.0.0"
    assert text_of(as_root.get("/canonical/report/")).count(again) == 1
    assert pinned.digest in text_of(as_root.get(again.replace("&amp;", "&")))
    pins.unset("report", Actor(user=administrator), reason="No more.")
    assert text_of(as_root.get("/canonical/")).count("/canonical/new/?skill=docs/report&amp;version=") == 2


def test_the_name_leads_to_the_pinned_version_and_the_skill_says_that_it_is_canonical(
    pinned, publish, browse
):
    publish("2.0.0")
    for address in ("/skills/_canonical_report/", "/skills/_canonical_/report/"):
        assert browse().get(address).headers["Location"] == "/skills/docs/report/1.0.0/"
    assert "Canonical" in text_of(browse().get("/skills/docs/report/"))
    assert browse().get("/skills/_canonical_nothing/").status_code == 404


def test_page_has_the_purpose_and_the_tabs_of_the_pinned_version(
    pinned, publish, browse, as_root, django_assert_max_num_queries
):
    publish("2.0.0")
    for client in (browse(), as_root):
        client.get("/canonical/report/")
        with django_assert_max_num_queries(10 if client is as_root else 8):
            page = client.get("/canonical/report/")
        (purpose,) = select(page, "p", class_="purpose")
        assert "Writes a report." in purpose
        tabs = [link["href"] for link in select(page, "nav", class_="tabs")[0].tags("a")]
        assert tabs[:2] == ["/canonical/report/", "/skills/docs/report/1.0.0/"]
        assert "/skills/docs/report/1.0.0/files/" in tabs


def test_what_cannot_be_answered_is_shown_to_administrators(pinned, first, as_root, alice, browse):
    set_visibility(first.skill, "private", Actor(user=alice))
    assert part(as_root.get("/canonical/"), "canonical")["state"] == "unavailable"
    assert parts(as_root.get("/canonical/report/"), "trouble")
    assert browse().get("/canonical/report/").status_code == 404


def test_the_name_is_taken_away_with_a_reason(pinned, as_root):
    as_root.post("/canonical/report/unset/", {"reason": ""})
    assert Canonical.objects.exists()
    done = as_root.post("/canonical/report/unset/", {"reason": "Nobody keeps it."}, follow=True)
    assert "Nobody keeps it." in text_of(done)
    assert not Canonical.objects.exists()


def test_others_neither_see_the_forms_nor_get_through(pinned, browse, alice):
    browser = browse(alice)
    assert browser.get("/canonical/new/").status_code == 403
    assert browser.get("/canonical/new/mirror/").status_code == 403
    assert browser.post("/canonical/report/unset/", {"reason": "x"}).status_code == 403
    assert browser.post("/canonical/report/decide/", {"digest": "x"}).status_code == 403
    assert not {"set", "mirror"} & set(actions(browser.get("/canonical/")))


def test_a_mirror_is_made_and_waits_on_its_page(team, as_root, settings):
    from tests.servers.http import run_server

    with run_server() as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]
        body = b"---\nname: report\ndescription: Writes a report.\n---\nFrom afar.\n"
        server.responders["/report/SKILL.md"] = lambda handler: handler.send(200, body)
        sent = {"slug": "report", "team": "docs", "interval_s": "3600", "reason": "Theirs."}
        sent["location"] = f"http://127.0.0.1:{server.port}/report/SKILL.md"
        assert parts(as_root.post("/canonical/new/mirror/", sent, follow=True), "pending")
        assert parts(as_root.get("/canonical/"), "canonical")
        import_waiting()
    assert parts(as_root.get("/canonical/report/"), "proposal")
    digest = not_none(not_none(Canonical.objects.get().mirror).skills.get().latest).digest
    done = as_root.post("/canonical/report/decide/", {"digest": digest, "decision": "accept"}, follow=True)
    assert messages(done) == ["success"]
    assert Canonical.objects.get().digest == digest
    assert not parts(done, "pending")
    sent = {**sent, "slug": "Not a slug", "location": "gopher://x"}
    assert as_root.post("/canonical/new/mirror/", sent).status_code == 422
