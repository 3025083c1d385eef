"""Retention policies by API and command: the site for administrators, a team for maintainers."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from registry.models import AuditEntry
from tests.factories.runs import make_past_run
from tests.shell import api
from worker.models import RetentionPass, Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]
SITE, TEAM = "/api/v1/retention", "/api/v1/teams/docs/retention"


def send(client, method, address, **body):
    return getattr(client, method)(address, body, content_type="application/json")


def test_members_read_maintainers_change_and_strangers_get_404(client, team, alice, bob, charlie):
    client.force_login(alice)  # owns the team
    document = send(client, "patch", TEAM, succeeded_days=30).json()
    assert (document["own"]["succeeded_days"], document["last_pass"]) == (30, None)
    assert AuditEntry.objects.get(action="team.retention").detail == {"succeeded_days": 30}
    assert send(client, "patch", SITE, succeeded_days=30).status_code == 403
    client.force_login(bob)
    assert client.get(TEAM).json() == document
    for method, address in (("patch", TEAM), ("post", f"{TEAM}/preview"), ("post", f"{SITE}/preview")):
        assert send(client, method, address, succeeded_days=1).status_code == 403
    assert client.get(SITE).status_code == 403
    client.force_login(charlie)
    assert client.get(TEAM).status_code == send(client, "post", f"{TEAM}/preview").status_code == 404


def test_preview_counts_what_the_removal_removes(version, alice, client, administrator, team):
    runs = [make_past_run(version, alice, team, days) for days in (40, 35, 20, 2)]
    client.force_login(administrator)
    document = send(client, "post", f"{TEAM}/preview", succeeded_days=30).json()
    assert (document["runs"], document["complete"]) == (2, True)
    assert document["samples"] == [run.uid for run in runs[:2]]
    assert document["oldest"] < document["newest"]
    assert document["rows"][0] | {"bytes": 0} == {
        "skill": str(runs[0].skill), "status": "succeeded", "runs": 2, "bytes": 0,
    }  # fmt: skip
    assert send(client, "post", f"{TEAM}/preview").json()["runs"] == 0  # without changes
    send(client, "patch", TEAM, succeeded_days=30)
    out = StringIO()
    call_command("remove_runs", "--dry-run", stdout=out)
    assert (Run.objects.count(), "runs: 2" in out.getvalue()) == (4, True)
    call_command("remove_runs", stdout=out)
    assert Run.objects.count() == 2
    assert client.get(SITE).json()["last_pass"]["runs"] == 2
    assert client.get(f"/runs/{runs[0].uid}/").status_code == 404
    assert client.get(f"/api/v1/runs/{runs[0].uid}").json()["code"] == "NOT_FOUND"


def test_value_above_the_site_s_is_refused_at_its_place(team):
    api("PATCH", "retention", {"failed_days": 10})
    RetentionPass.objects.create(pk=1, due_at=timezone.now() + timedelta(hours=9))
    status, document = api("PATCH", "teams/docs/retention", {"failed_days": 11})
    problem = document["problems"][0]
    assert (status, problem["code"], problem["path"]) == (1, "RETENTION_ABOVE_SITE", "failed_days")
    assert api("POST", "retention/preview", {"log_days": 0})[1]["problems"][0]["code"] == "RETENTION_INVALID"
    document = api("PATCH", "teams/docs/retention", {"failed_days": 9})[1]
    assert document["effective"]["failed_days"] == 9
    assert RetentionPass.objects.get().due_at <= timezone.now()  # the next pass need not wait for a day
