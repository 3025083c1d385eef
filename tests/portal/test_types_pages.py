"""What the pages offer of each type of skill, of runs that started others, and of stored answers."""

from __future__ import annotations

import pytest

from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import part, parts
from worker.models import Run, RunStatus

pytestmark = [pytest.mark.django_db, pytest.mark.row("C3", "C12", "P11")]

WHOLE = """---
name: {kind}-skill
description: For tests.
version: 1.0.0
type: {kind}
capabilities: [x]
tags: [x]
triggers: {{phrases: [x]}}
input_schema: {{type: object}}
output_schema: {{}}
security: {{network: allowlist, network_allowlist: [api.example.com]}}
resources: {{}}
{more}---
# Skill
"""
SCRIPT = b"def execute(parameters):\n    return {'output': 1}\n"


@pytest.fixture
def of_type(team, alice):
    def make(kind, more="", script=True):
        files = {"SKILL.md": WHOLE.format(kind=kind, more=more).encode()}
        if script:
            files["scripts/execute.py"] = SCRIPT
        return publish_files(files, team=team, user=alice, visibility="site")

    return make


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.mark.parametrize("kind", ["direct", "service", "distributed", "preprocessor"])
def test_what_can_be_run_has_a_form(browse, bob, of_type, kind):
    skill = of_type(kind).skill
    page = browse(bob).get(f"/skills/{skill}/run/").text
    assert "<form" in page
    assert 'name="form_token"' in page


def test_a_service_without_scripts_has_a_form_too(browse, bob, of_type):
    skill = of_type("service", "endpoint: https://api.example.com/x\n", script=False).skill
    assert 'name="form_token"' in browse(bob).get(f"/skills/{skill}/run/").text
    answer = browse(bob).post(f"/skills/{skill}/run/", {"form_token": "1"})
    run = Run.objects.get()
    assert (answer.status_code, run.protocol, run.entry) == (302, "endpoint", "https://api.example.com/x")


@pytest.mark.parametrize("kind", ["static", "internal"])
def test_skill_that_cannot_be_started_by_hand_has_no_form(browse, bob, of_type, kind):
    skill = of_type(kind).skill
    page = browse(bob).get(f"/skills/{skill}/run/").text
    assert part(page, "nothing-to-run")["state"] == kind
    assert 'name="form_token"' not in page
    for tab in ("", "use/"):
        assert f'href="/skills/{skill}/run/' not in browse(bob).get(f"/skills/{skill}/{tab}").text
    answer = browse(bob).post(f"/skills/{skill}/run/", {"form_token": "1"})
    assert (answer.status_code, Run.objects.count()) == (200, 0)


def test_a_page_does_not_repeat_an_internal_run(browse, bob, team, of_type):
    version = of_type("internal")
    run = make_run(version, bob, team)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert f"/runs/{run.uid}/rerun/" not in page
    answer = browse(bob).post(f"/runs/{run.uid}/rerun/", follow=True)
    assert part(answer, "message", kind="error")["code"] == "SKILL_INTERNAL"
    assert Run.objects.count() == 1


def test_strangers_find_no_internal_skill_on_any_page(browse, charlie, of_type):
    skill = of_type("internal").skill
    for path in ("", "run/", "use/", "versions/", "files/"):
        assert browse(charlie).get(f"/skills/{skill}/{path}").status_code == 404
    assert "internal-skill" not in browse(charlie).get("/skills/?q=internal").text


def test_a_stored_answer_names_its_run_and_can_be_had_fresh(browse, bob, team, of_type):
    version = of_type("direct", "cacheable: true\n")
    earlier = make_run(version, bob, team)
    run = make_run(version, bob, team, cached_from=earlier, request={"inputs": {}, "script": None})
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert f"/runs/{earlier.uid}/" in [link["href"] for link in part(page, "cached").tags("a")]
    assert '<button class="button small" name="no_cache" value="1">' in page
    browse(bob).post(f"/runs/{run.uid}/rerun/", {"no_cache": "1"})
    assert Run.objects.latest("pk").status == RunStatus.QUEUED


def test_a_stored_answer_does_not_name_a_run_that_its_reader_may_not_see(browse, charlie, team, of_type):
    version = of_type("direct", "cacheable: true\n")
    earlier = make_run(version, charlie, None)
    Run.objects.filter(pk=earlier.pk).update(caller=None, skill=None)
    run = make_run(version, charlie, charlie.memberships.get().team, cached_from=earlier)
    page = browse(charlie).get(f"/runs/{run.uid}/").text
    assert parts(page, "cached")
    assert earlier.uid not in page


def test_runs_lead_to_those_that_they_started_and_back(browse, bob, charlie, team, of_type):
    version = of_type("direct")
    parent = make_run(version, bob, team)
    child = make_run(version, bob, team, parent=parent, root=parent, depth=1)
    assert f'href="/runs/{child.uid}/"' in browse(bob).get(f"/runs/{parent.uid}/").text
    assert f'href="/runs/{parent.uid}/"' in browse(bob).get(f"/runs/{child.uid}/").text
