"""A version is reported and decided by page, API and command; strangers get nothing of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.identity.tokens import issue
from registry.models import Membership, Report, Role, Version
from registry.versions.publishing.publish import publish
from tests.pages import messages, part, parts, select
from tests.registry.conftest import make_package
from tests.shell import api

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P8", "E1")]
PAGE = "/skills/docs/report/1.0.0/"
API = "/api/v1/skills/docs/report/versions/1.0.0/reports"


@pytest.fixture
def published(team, alice):
    def make(slug, visibility="private"):
        package = make_package(slug, version="1.0.0")
        done = publish(package, team=team, actor=Actor(user=alice), visibility=visibility)
        return done.version

    return make


@pytest.fixture
def version(published):
    return published("report", visibility="public")


@pytest.fixture
def maintainer(bob):
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    return bob


def test_it_is_reported_and_decided_in_a_browser(browse, charlie, alice, maintainer, version):
    reader = browse(charlie)
    assert f'href="{PAGE}report/"' in reader.get("/skills/docs/report/").text
    assert not [one for one in select(reader.get(f"{PAGE}report/"), "input") if "checked" in one.attributes]
    refused = reader.post(f"{PAGE}report/", {"reason": "nothing"})
    assert refused.status_code == 422
    done = reader.post(f"{PAGE}report/", {"reason": "malicious", "text": "It sends files."}, follow=True)
    assert messages(done) == ["success"]
    again = reader.post(f"{PAGE}report/", {"reason": "malicious"})
    assert (again.status_code, part(again, "errors").values("code")) == (422, ["REPORT_OPEN"])
    assert "It sends files." not in reader.get(f"{PAGE}findings/").text
    assert parts(browse(alice).get(f"{PAGE}findings/"), "needs-other-reviewer")
    judge = browse(maintainer)
    assert "It sends files." in judge.get("/held/").text
    address = f"{PAGE}reports/{Report.objects.get().uid}/"
    assert messages(judge.post(address, {"decision": "uphold"}, follow=True)) == ["error"]
    assert Report.objects.get().state == "open"
    told = judge.post(address, {"decision": "uphold", "reason": "It does."}, follow=True)
    assert messages(told) == ["success"]
    assert Version.objects.get().is_held
    assert parts(judge.get("/held/"), "empty", state="reported")


def test_pages_say_that_a_report_holds_a_version_and_not_a_scan(browse, alice, charlie, maintainer, version):
    browse(charlie).post(f"{PAGE}report/", {"reason": "malicious"})
    reviewer, report = browse(maintainer), Report.objects.get()
    reviewer.post(f"{PAGE}reports/{report.uid}/", {"decision": "uphold", "reason": "It does."})
    report.refresh_from_db()
    assert report.state == "upheld"
    assert part(reviewer.get(f"{PAGE}findings/"), "hold")["state"] == "report"
    assert not parts(browse(alice).get(f"{PAGE}findings/"), "republish")  # later versions are held too
    assert part(reviewer.get("/held/"), "cause")["state"] == "report"
    assert parts(reviewer.get(PAGE), "held")


def test_a_version_that_is_kept_out_says_so(browse, alice, charlie, version):
    browse(alice).post(f"{PAGE}report/", {"reason": "malicious"})
    assert parts(browse(charlie).get("/skills/docs/report/"), "reported")
    assert "docs/report" not in browse(charlie).get("/skills/").text
    assert "docs/report" in browse(alice).get("/skills/").text


def test_who_is_not_signed_in_or_may_not_see_it_is_told_nothing(browse, charlie, version, published):
    published("hidden")
    assert browse(None).get(f"{PAGE}report/").status_code == 302
    assert browse(charlie).get("/skills/docs/hidden/1.0.0/report/").status_code == 404
    hidden = "/api/v1/skills/docs/hidden/versions/1.0.0/reports"
    asked = {"reason": "spam"}
    assert browse(charlie).post(hidden, asked, content_type="application/json").status_code == 404
    assert browse(None).post(API, asked, content_type="application/json").status_code == 401
    assert browse(charlie).get(API).status_code == 403


def test_the_api_takes_lists_and_decides(browse, charlie, maintainer, version):
    asked = {"reason": "malicious", "text": "It sends files."}
    made = browse(charlie).post(API, asked, content_type="application/json")
    assert (made.status_code, made.json()["state"], made.json()["excluded"]) == (200, "open", False)
    judge = browse(maintainer)
    [row] = judge.get("/api/v1/reports").json()["items"]
    assert row == made.json() == judge.get(API).json()["items"][0]
    assert browse(charlie).get("/api/v1/reports").json() == {"items": []}
    decided = judge.post(
        f"{API}/{row['id']}", {"uphold": False, "reason": "No."}, content_type="application/json"
    )
    assert decided.json()["state"] == "dismissed"


def test_token_that_reads_and_runs_does_not_report(client, charlie, version):
    later, by = timezone.now() + timedelta(hours=1), Actor(user=charlie)
    _, secret = issue(charlie, name="t", scopes=["read", "run"], expires_at=later, by=by)
    headers = {"Authorization": f"Bearer {secret}"}
    answer = client.post(API, {"reason": "spam"}, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "TOKEN_SCOPE_MISSING")


def test_shell_reports_lists_and_decides(administrator, version):
    assert api("GET", "reports")[1]["items"] == []
    status, made = api("POST", API, {"reason": "malicious", "text": "It sends files."})
    assert (status, made["excluded"]) == (0, True)
    assert api("GET", "reports")[1]["items"] == [made] == api("GET", API)[1]["items"]
    status, decided = api("POST", f"{API}/{made['id']}", {"uphold": False, "reason": "No."})
    assert (status, decided["state"], decided["excluded"]) == (0, "dismissed", False)
