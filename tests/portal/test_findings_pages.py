"""A version's findings: who sees them, who judges, and what a held version's pages say."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.identity.tokens import issue
from registry.models import Membership, Role, Suppression, Token, Version
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.factories.scan_samples import CERTAIN, FLAGGED, HOST
from tests.factories.skills import prompt_files
from tests.pages import actions, codes, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1", "P2", "P8")]
PAGE = "/skills/docs/sample/1.0.0/findings/"
API = "/api/v1/skills/docs/sample/versions/1.0.0"


def published(files, team, user, **more):
    return publish(
        read_files(list(files.items())), team=team, actor=Actor(user=user), version="1.0.0", **more
    ).version


@pytest.fixture
def held(team, alice):
    return published(CERTAIN["a number piped to a shell"][1], team, alice, visibility="public")


@pytest.fixture
def flagged(team, alice):
    return published(FLAGGED["a plain address piped"][1], team, alice)


@pytest.fixture
def maintainer(bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    return bob


def test_the_team_sees_a_held_version_with_its_findings(browse, alice, bob, held):
    for person in (alice, bob):
        text = browse(person).get(PAGE).text
        assert part(text, "held")["state"] == ("own" if person == alice else "other")
        assert "pipe-to-shell" in [row["value"] for row in parts(text, "finding")]
        assert f"http://{HOST}/install" in text
        assert "files/SKILL.md#L8" in text
    assert "/release/" not in browse(alice).get(PAGE).text


def test_strangers_see_nothing_of_it(browse, charlie, held):
    for person in (charlie, None):
        for address in (PAGE, "/skills/docs/sample/", "/skills/docs/sample/1.0.0/", f"{API}/findings"):
            assert browse(person).get(address).status_code == 404
        assert "sample" not in browse(person).get("/skills/").text


def test_its_files_are_read_by_the_team_and_downloaded_by_nobody(browse, alice, bob, held):
    assert HOST in browse(bob).get("/skills/docs/sample/1.0.0/files/SKILL.md").text
    for address in ("/skills/docs/sample/1.0.0/raw/SKILL.md", f"{API}/archive", f"{API}/files/SKILL.md"):
        for person in (alice, bob):
            assert browse(person).get(address).status_code == 409


def test_another_maintainer_releases_it(browse, maintainer, charlie, held):
    client = browse(maintainer)
    assert "release" in actions(client.get(PAGE))
    empty = client.post("/skills/docs/sample/1.0.0/release/", {"reason": ""})
    assert empty.status_code == 422
    assert Version.objects.get().is_held
    done = client.post("/skills/docs/sample/1.0.0/release/", {"reason": "It is ours."}, follow=True)
    assert "It is ours." in done.text
    assert browse(charlie).get("/skills/docs/sample/").status_code == 200


def test_the_publisher_cannot_release_their_own_version(browse, alice, held):
    done = browse(alice).post("/skills/docs/sample/1.0.0/release/", {"reason": "Mine."}, follow=True)
    assert part(done, "message")["code"] == "RELEASE_OWN"
    assert parts(browse(alice).get("/skills/docs/sample/1.0.0/findings/"), "republish")
    assert Version.objects.get().is_held


def test_a_finding_is_suppressed_and_reopened(browse, alice, bob, flagged):
    assert "suppress" not in actions(browse(bob).get(PAGE))
    [finding] = [row for row in flagged.findings.all() if row.rule == "pipe-to-shell"]
    client = browse(alice)
    assert "suppress" in actions(client.get(PAGE))
    done = client.post(f"{PAGE}{finding.uid}/suppress/", {"reason": "Our mirror."}, follow=True)
    assert "Our mirror." in part(done, "finding", state="suppressed")
    done = client.post(f"{PAGE}{finding.uid}/unsuppress/", follow=True)
    assert "Our mirror." not in done.text
    assert not parts(done, "finding", state="suppressed")
    assert not Suppression.objects.exists()


def test_who_may_not_judge_is_refused(browse, bob, charlie, flagged):
    [finding] = flagged.findings.all()
    for person, status in ((bob, 403), (charlie, 404)):
        answer = browse(person).post(f"{PAGE}{finding.uid}/unsuppress/")
        assert answer.status_code == status
    assert browse(None).post(f"{PAGE}{finding.uid}/suppress/").status_code == 302


def test_a_finding_that_is_not_there_is_not_found(browse, alice, flagged):
    assert browse(alice).post(f"{PAGE}0123456789abcdef/unsuppress/").status_code == 404


def test_where_nothing_was_found_the_page_says_so(browse, alice, team):
    published(prompt_files(), team, alice)
    page = browse(alice).get("/skills/docs/kind-review/1.0.0/findings/")
    assert parts(page, "empty")
    assert not parts(page, "finding")


def test_what_waits_is_listed_for_those_who_review(browse, alice, bob, charlie, administrator, held):
    for person in (alice, administrator):
        row = part(browse(person).get("/held/"), "held", value="docs/sample@1.0.0")
        cause = row.part("cause", state="rule", value="pipe-to-shell")
        assert cause.text
        assert "pipe-to-shell" not in cause
        assert bool(row.parts(action="review")) == (person != alice)
        assert (row.attributes.get("data-state") == "own") == (person == alice)
    for person in (bob, charlie):
        page = browse(person).get("/held/")
        assert not parts(page, "held")
        assert parts(page, "empty", state="held")
    assert browse(None).get("/held/").status_code == 302


def test_the_preview_of_a_package_says_that_it_would_be_held(browse, alice, team):
    text = CERTAIN["a number piped to a shell"][1]["SKILL.md"].decode()
    seen = browse(alice).post("/publish/", {"team": "docs", "text": text, "check": "1"})
    assert "SCAN_HOLDS" in codes(seen)


class TestTheApi:
    def post(self, client, address, body):
        return client.post(address, body, content_type="application/json")

    def test_findings_are_listed_judged_and_released(self, browse, alice, maintainer, held):
        client = browse(maintainer)
        [found] = [one for one in client.get(f"{API}/findings").json()["items"] if one["high_confidence"]]
        assert (found["rule"], found["path"], found["suppression"]) == ("pipe-to-shell", "SKILL.md", None)
        assert found["message"]
        assert found["remedy"]
        assert [one["skill"] for one in client.get("/api/v1/held").json()["items"]] == ["docs/sample"]
        address = f"{API}/findings/{found['id']}/suppression"
        assert self.post(browse(alice), address, {"reason": "Mine."}).json()["code"] == "RELEASE_OWN"
        said = self.post(client, address, {"reason": "Ours."}).json()
        assert said["items"][0]["suppression"]["suppressed_by"] == "bob"
        assert client.delete(address).json()["items"][0]["suppression"] is None
        said = self.post(client, f"{API}/release", {"reason": "I read it."}).json()
        assert (said["held"], said["release_reason"]) == (False, "I read it.")
        assert self.post(client, f"{API}/release", {"reason": "Again."}).json()["code"] == "NOT_HELD"

    def test_a_token_judges_nothing(self, browse, maintainer, held):
        ends = timezone.now() + timedelta(days=1)
        scopes = ["read", "run", "publish"]
        _, secret = issue(maintainer, name="all", scopes=scopes, expires_at=ends, by=Actor(user=maintainer))
        client = browse(None)
        head = {"authorization": f"Bearer {secret}"}
        assert client.get(f"{API}/findings", headers=head).status_code == 200
        answer = client.post(f"{API}/release", {"reason": "x"}, content_type="application/json", headers=head)
        assert answer.status_code == 403
        assert Token.objects.count() == 1
        assert Version.objects.get().is_held

    def test_a_reason_is_needed(self, browse, maintainer, held):
        assert self.post(browse(maintainer), f"{API}/release", {}).status_code == 422
        assert self.post(browse(maintainer), f"{API}/release", {"reason": "  "}).status_code == 422
