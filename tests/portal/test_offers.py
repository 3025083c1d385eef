"""What a version offers to press: one truth for the skill's page, its form and what a call is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portal.presenters.skill import runnable_version as runnable_versions
from portal.presenters.skill.runnable_version import example_call, runnable_version, stored_profile_reports
from registry.core.errors import UNAVAILABLE
from registry.models import Membership, Role
from registry.storage import blobs
from tests.factories.skills import publish_files
from tests.pages import part, parts
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("P11", "C5")]
EXAMPLES = Path(__file__).parents[2] / "examples"


def _example(name, team, user, **more):
    folder = EXAMPLES / name
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return publish_files(files, team=team, user=user, **more)


@pytest.fixture
def abp(team, alice):
    return _example("weather-query-abp", team, alice)


@pytest.mark.row("C9")
def test_a_skill_of_tools_has_a_menu_and_a_form_a_tool(browse, alice, abp):
    client, root = browse(alice), "/skills/docs/weather-query-abp/"
    page = client.get(root).text
    assert f'href="{root}run/?version=1.0.0&amp;tool=getWeather"' in page
    assert all(told in page for told in ("城市名称", "celsius", "required"))
    form = client.get(root + "run/?tool=getWeather").text
    assert all(told in form for told in ("城市名称", "celsius", 'name="run"'))
    assert 'name="tool" value="getWeather"' in form


@pytest.mark.row("C9")
def test_a_tool_is_asked_for_by_its_form(browse, alice, abp):
    root = "/skills/docs/weather-query-abp/run/"
    asked = {"version": "1.0.0", "tool": "getWeather", "input-0": "广州", "input-1": "celsius"}
    assert browse(alice).post(root, {**asked, "input-0": ""}).status_code == 422
    assert browse(alice).post(root, asked).status_code == 302
    run = Run.objects.get()
    assert (run.protocol, run.request["tool"]) == ("abp", "getWeather")
    assert run.request["inputs"] == {"location": "广州", "unit": "celsius"}


@pytest.mark.row("C9")
def test_a_skill_that_declares_no_tool_says_so_instead_of_a_dead_button(browse, alice, team):
    folder = EXAMPLES / "weather-query-abp"
    files = {name: (folder / name).read_bytes() for name in ("SKILL.md", "scripts/execute.ts")}
    files["references/climate.json"] = b"{}"
    abp = publish_files(files, team=team, user=alice)
    manifest = {**abp.manifest, "abp": {"kind": "query"}}  # as an earlier release let through
    type(abp).objects.filter(pk=abp.pk).update(manifest=manifest)
    page = browse(alice).get("/skills/docs/weather-query-abp/run/")
    assert part(page, "nothing-to-run")["state"] == "tools-undeclared"
    assert 'name="run"' not in page.text


def test_reading_matter_asks_for_no_arguments(browse, alice, team):
    _example("contract-glossary", team, alice)
    page = browse(alice).get("/skills/docs/contract-glossary/use/").text
    assert part(page, "summary")["state"] == "static"
    assert "references/terms.md" in page
    assert 'name="arguments"' not in page


def test_run_is_not_offered_to_whom_it_would_refuse(browse, charlie, team, alice):
    _example("trend-analysis", team, alice)
    Membership.objects.create(user=charlie, team=team, role=Role.VIEWER)
    page = browse(charlie).get("/skills/docs/trend-analysis/").text
    assert 'href="/skills/docs/trend-analysis/use/"' in page
    assert 'href="/skills/docs/trend-analysis/run/"' not in page


def test_form_has_the_same_button_in_its_header_and_at_its_end(browse, alice, team):
    _example("trend-analysis", team, alice)
    page = browse(alice).get("/skills/docs/trend-analysis/run/").text
    assert page.count("button primary") == 2


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("data-scripts", {"script": "process-data"}),
        ("two-actions", {"action": "action_1"}),
        ("weather-query", {}),
    ],
)
def test_the_line_to_copy_names_what_a_call_must_name(browse, alice, team, name, named):
    call = example_call(runnable_version(_example(name, team, alice)))
    assert {key: call[key] for key in ("script", "action") if key in call} == named
    answer = browse(alice).post("/api/v1/runs", json.dumps(call), content_type="application/json")
    assert answer.status_code == 202


def test_the_actions_that_a_skill_declares_are_told(browse, alice, team):
    _example("two-actions", team, alice)
    page = browse(alice).get("/skills/docs/two-actions/run/").text
    assert "action_1, action_2" in page


@pytest.mark.row("C1")
def test_a_version_shows_how_it_fares_under_each_profile(browse, alice, team):
    version = _example("data-scripts", team, alice)
    for path in ("", f"{version.number}/"):
        page = browse(alice).get(f"/skills/docs/data-scripts/{path}").text
        profiles = {row["value"]: row for row in parts(page, "profile")}
        assert list(profiles)[:2] == ["agentskills", "apexbridge"]
        assert [name for name, row in profiles.items() if parts(row, "chosen")] == ["agentskills"]
        assert (profiles["agentskills"]["state"], profiles["apexbridge"]["state"]) == ("passes", "fails")
        assert "FIELD_MISSING" in profiles["apexbridge"].values("code")


def test_a_storage_that_fails_once_hides_the_other_profiles_only_once(team, alice, monkeypatch):
    version = _example("data-scripts", team, alice)
    runnable_versions._REPORTS.clear()
    with monkeypatch.context() as patch:
        patch.setattr(blobs, "read", lambda digest: (_ for _ in ()).throw(UNAVAILABLE.refusal()))
        assert [row.profile for row in stored_profile_reports(version, ())] == ["agentskills"]
    assert len(stored_profile_reports(version, ())) > 1
