"""A run that waits for its dependencies says so: on its page, in lists and in the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.actors import Actor
from registry.packages.problems import problem
from registry.packages.reading import read_files
from registry.publishing import publish
from worker.dependencies import queue
from worker.models import Preparation
from worker.protocols.call import Request
from worker.runs import request_run

pytestmark = [pytest.mark.row("C6", "P5"), pytest.mark.django_db]


@pytest.fixture
def run(team, alice, monkeypatch):
    """Queued by Alice, of a public version that asks for a package of an index."""
    monkeypatch.setattr("worker.runs.wake", lambda: True)
    head = b"---\nname: needy\ndescription: For tests.\nversion: 1.0.0\n---\n# Needy\n"
    files = [("SKILL.md", head), ("scripts/needy.py", b"import six\n"), ("requirements.txt", b"six>=1\n")]
    version = publish(read_files(files), team=team, actor=Actor(user=alice), visibility="public").version
    return request_run(actor=Actor(user=alice), version=version, request=Request(inputs={}))


def _document(browse, who, run):
    return browse(who).get(f"/api/v1/runs/{run.uid}").json()


def test_the_page_says_what_is_made_and_for_how_long(run, browse, alice):
    page = browse(alice).get(f"/runs/{run.uid}/").content.decode()
    assert "Waiting for the dependencies of this version." in page
    assert "Waiting for a free worker." not in page
    assert "six&gt;=1" in page
    assert "waiting for" in page
    queue.claim_next(timezone.now())
    Preparation.objects.update(started_at=timezone.now() - timedelta(seconds=90))
    live = browse(alice).get(f"/runs/{run.uid}/live/").content.decode()
    assert "being made for 1 min" in live


def test_the_api_tells_it_in_the_run_and_in_the_list(run, browse, alice):
    (wait,) = _document(browse, alice, run)["waits_for"]
    assert (wait["kind"], wait["state"], wait["asks"], wait["problem"]) == (
        "python",
        "waiting",
        ["six>=1"],
        None,
    )
    hold = queue.claim_next(timezone.now())
    (row,) = browse(alice).get("/api/v1/runs").json()["items"]
    assert [each["state"] for each in row["waits_for"]] == ["running"]
    hold.succeed(queue.Made("", (), "sha256:" + "0" * 64, 1))
    assert _document(browse, alice, run)["waits_for"] == []


def test_a_failure_is_told_with_its_remedy_while_the_run_is_still_queued(run, browse, alice):
    hold = queue.claim_next(timezone.now())
    hold.fail(problem("DEPENDENCIES_OFF", kind="Python", setting="SKILLQUAY_PYTHON_INDEX"))
    (wait,) = _document(browse, alice, run)["waits_for"]
    assert (wait["state"], wait["problem"]["code"]) == ("failed", "DEPENDENCIES_OFF")
    page = browse(alice).get(f"/runs/{run.uid}/").content.decode()
    assert "SKILLQUAY_PYTHON_INDEX" in page


def test_the_list_marks_it(run, browse, alice):
    assert "preparing dependencies" in browse(alice).get("/runs/").content.decode()
    Preparation.objects.update(state="ready")
    assert "preparing dependencies" not in browse(alice).get("/runs/").content.decode()


def test_a_stranger_learns_nothing_of_the_run_and_a_colleague_what_it_waits_for_alone(
    run, browse, bob, charlie
):
    assert browse(charlie).get(f"/api/v1/runs/{run.uid}").status_code == 404
    assert browse(charlie).get(f"/runs/{run.uid}/").status_code == 404
    assert "waits_for" not in _document(browse, bob, run)
    page = browse(bob).get(f"/runs/{run.uid}/").content.decode()
    assert "Waiting for the dependencies of this version." in page
    assert "six&gt;=1" not in page


def test_one_that_has_ended_waits_for_nothing(run, browse, alice):
    type(run).objects.update(status="cancelled")
    assert _document(browse, alice, run)["waits_for"] == []
    assert "Waiting for the dependencies" not in browse(alice).get(f"/runs/{run.uid}/").content.decode()
