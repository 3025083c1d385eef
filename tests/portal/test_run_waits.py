"""A run that waits for its dependencies says so: on its page, in lists and in the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.checks import not_none
from tests.pages import codes, part, parts
from worker.dependencies import queue
from worker.dependencies.errors import DEPENDENCIES_DISABLED
from worker.models import DependencyBuild
from worker.protocols.call import Request
from worker.runs.request import request_run

pytestmark = [pytest.mark.row("C6", "P5"), pytest.mark.django_db]


@pytest.fixture
def run(team, alice, monkeypatch):
    """Queued by Alice, of a public version that asks for a package of an index."""
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    head = b"---\nname: needy\ndescription: For tests.\nversion: 1.0.0\n---\n# Needy\n"
    files = [("SKILL.md", head), ("scripts/needy.py", b"import six\n"), ("requirements.txt", b"six>=1\n")]
    version = publish(read_files(files), team=team, actor=Actor(user=alice), visibility="public").version
    return request_run(actor=Actor(user=alice), version=version, request=Request(inputs={}))


def _document(browse, who, run):
    return browse(who).get(f"/api/v1/runs/{run.uid}").json()


def test_the_page_says_what_is_made_and_for_how_long(run, browse, alice):
    page = browse(alice).get(f"/runs/{run.uid}/").content.decode()
    waiting = part(page, "waiting", state="dependencies")
    dependency = part(waiting, "dependency")
    assert "six>=1" in dependency
    assert dependency.values("state") == ["queued"]
    assert parts(dependency, "waited")
    queue.claim_next(timezone.now())
    DependencyBuild.objects.update(started_at=timezone.now() - timedelta(seconds=90))
    live = part(browse(alice).get(f"/runs/{run.uid}/live/"), "dependency")
    assert live.values("state") == ["running"]
    assert 90_000 <= int(part(live, "waited")["value"]) < 120_000
    assert "1 min" in part(live, "waited")


def test_the_api_tells_it_in_the_run_and_in_the_list(run, browse, alice):
    (wait,) = _document(browse, alice, run)["waiting_for"]
    assert (wait["kind"], wait["state"], wait["requirements"], wait["problem"]) == (
        "python",
        "waiting",
        ["six>=1"],
        None,
    )
    hold = not_none(queue.claim_next(timezone.now()))
    (row,) = browse(alice).get("/api/v1/runs").json()["items"]
    assert [each["state"] for each in row["waiting_for"]] == ["running"]
    hold.succeed(queue.BuildResult("", (), "sha256:" + "0" * 64, 1))
    assert _document(browse, alice, run)["waiting_for"] == []


def test_a_failure_is_told_with_its_remedy_while_the_run_is_still_queued(run, browse, alice):
    hold = not_none(queue.claim_next(timezone.now()))
    hold.fail(DEPENDENCIES_DISABLED.problem(kind="Python", setting="SKILLQUAY_PYTHON_INDEX"))
    (wait,) = _document(browse, alice, run)["waiting_for"]
    assert (wait["state"], wait["problem"]["code"]) == ("failed", "DEPENDENCIES_DISABLED")
    page = browse(alice).get(f"/runs/{run.uid}/").content.decode()
    assert "SKILLQUAY_PYTHON_INDEX" in page
    assert "DEPENDENCIES_DISABLED" in codes(page)


def test_the_list_marks_it(run, browse, alice):
    assert parts(browse(alice).get("/runs/"), "preparing")
    DependencyBuild.objects.update(state="ready")
    assert parts(browse(alice).get("/runs/"), "preparing") == []


def test_a_stranger_learns_nothing_of_the_run_and_a_colleague_what_it_waits_for_alone(
    run, browse, bob, charlie
):
    assert browse(charlie).get(f"/api/v1/runs/{run.uid}").status_code == 404
    assert browse(charlie).get(f"/runs/{run.uid}/").status_code == 404
    assert "waiting_for" not in _document(browse, bob, run)
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert part(page, "waiting")["state"] == "dependencies"
    assert "six&gt;=1" not in page


def test_one_that_has_ended_waits_for_nothing(run, browse, alice):
    type(run).objects.update(status="cancelled")
    assert _document(browse, alice, run)["waiting_for"] == []
    assert parts(browse(alice).get(f"/runs/{run.uid}/"), "waiting") == []
