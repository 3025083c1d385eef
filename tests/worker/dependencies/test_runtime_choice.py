"""A maintainer chooses the runtime of a version by page, API or command."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.models import AuditEntry
from registry.packages.problems import Refusal
from tests.pages import actions, part, parts
from worker.dependencies.runtimes.choice import choose_runtime
from worker.models import DependencyBuild, RunStatus, RuntimeChoice
from worker.service.inline import execute_here

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db]
API = "/api/v1/skills/docs/hello/versions/1.0.0/runtime"
PAGE = "/skills/docs/hello/1.0.0/"
SCRIPT = "import sys\nprint(sys.path)\n"
OWN = '# /// script\n# dependencies = ["cheerful"]\n# ///\n' + SCRIPT


def specs(version):
    return [json.loads(row.spec).get("runtime") for row in DependencyBuild.objects.filter(versions=version)]


def test_page_sets_and_removes_the_runtime(publish_skill, client, alice):
    version = publish_skill(script=SCRIPT)
    client.force_login(alice)
    assert "choose-runtime" in actions(client.get(PAGE))
    client.post(f"{PAGE}dependencies/runtime/", {"runtime": "web"})
    page = client.get(PAGE)
    assert part(page, "runtime")["value"] == "web"
    assert specs(version) == ["web"]
    assert RuntimeChoice.objects.get().chosen_by == alice
    entry = AuditEntry.objects.get(action="version.choose_runtime")
    assert (entry.target, entry.detail["runtime"]) == ("docs/hello@1.0.0", "web")
    client.post(f"{PAGE}dependencies/runtime/", {"runtime": ""})
    assert parts(client.get(PAGE), "runtime") == []
    assert specs(version) == []


def test_api_sets_the_runtime_and_names_who_chose_it(publish_skill, client, alice):
    version = publish_skill(script=OWN)
    assert specs(version) == [None]
    client.force_login(alice)
    answer = client.put(API, {"runtime": "data"}, content_type="application/json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["runtime"] == {"name": "data", "origin": "maintainer", "chosen_by": "alice"}
    assert specs(version) == ["data"]
    refused = client.put(API, {"runtime": "absent"}, content_type="application/json")
    assert refused.json()["code"] == "RUNTIME_UNKNOWN"


def test_command_sets_the_runtime(publish_skill):
    publish_skill(script=SCRIPT)
    out = io.StringIO()
    call_command("choose_runtime", "docs/hello@1.0.0", "tools", stdout=out)
    assert out.getvalue() == "docs/hello@1.0.0: tools, none\n"
    call_command("choose_runtime", "docs/hello@1.0.0", "none", stdout=out)
    assert not RuntimeChoice.objects.exists()


def test_run_uses_the_runtime_that_was_chosen(publish_skill, queue_run, alice):
    version = publish_skill(script=SCRIPT)
    assert execute_here(queue_run(version)).status == RunStatus.SUCCEEDED
    choose_runtime(version, "web", Actor(user=alice))
    run = execute_here(queue_run(version))  # this site has no package index
    assert (run.status, run.failure_code) == (RunStatus.REFUSED, "DEPENDENCIES_DISABLED")


def test_choice_is_for_one_version(publish_skill, alice):
    first = publish_skill(script=SCRIPT)
    choose_runtime(first, "web", Actor(user=alice))
    assert specs(publish_skill(script=SCRIPT, number="1.1.0")) == []


def test_member_and_stranger_cannot_choose(publish_skill, client, bob, charlie):
    publish_skill(script=SCRIPT, visibility="site")
    for user, status in ((bob, 403), (charlie, 403)):
        client.force_login(user)
        answer = client.put(API, {"runtime": "web"}, content_type="application/json")
        assert answer.status_code == status
        assert "choose-runtime" not in actions(client.get(PAGE))
    assert not RuntimeChoice.objects.exists()


@pytest.mark.parametrize(("front", "code"), [("", "RUNTIME_UNKNOWN"), ("runtime: web\n", "RUNTIME_DECLARED")])
def test_folder_of_the_site_and_declared_runtime_are_refused(publish_skill, settings, alice, front, code):
    settings.SKILLQUAY_RUNTIMES = {"office": "/srv/office"}
    version = publish_skill(script=SCRIPT, front=front)
    with pytest.raises(Refusal) as refused:
        choose_runtime(version, "office", Actor(user=alice))
    assert refused.value.code == code


def test_comparison_shows_a_chosen_runtime(publish_skill, client, alice):
    before = publish_skill(script=SCRIPT)
    after = publish_skill(script=SCRIPT, number="1.1.0")
    choose_runtime(after, "web", Actor(user=alice))
    client.force_login(alice)
    document = client.get(f"/api/v1/skills/docs/hello/compare/{before.number}..{after.number}").json()
    [change] = [each for each in document["manifest"] if each["name"] == "runtime"]
    assert (change["before"], change["after"]) == ("", "web")
