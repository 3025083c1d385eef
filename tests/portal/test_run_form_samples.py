"""Samples, redrawn lists and the advanced options of the run form."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.models import Membership, Role, Team
from tests.factories.skills import publish_files
from tests.pages import part, parts, select
from worker.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.row("C5", "P10", "P11")]

WEATHER = """---
name: weather
description: Reads a file of days and says the average.
version: 1.0.0
input_schema:
  type: object
  examples: [{city: Rome, days: 2}, 3]
  required: [city]
  properties:
    city: {type: string, title: City, minLength: 2}
    days: {type: integer, minimum: 0, maximum: 14, default: 3}
---
# Weather
"""
PLAIN = WEATHER.replace("  examples: [{city: Rome, days: 2}, 3]\n", "")


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


def publish(team, user, head, files=None):
    name = head.partition("name: ")[2].partition("\n")[0]
    files = {"SKILL.md": head.encode(), f"scripts/{name}.py": b"print(1)\n", **(files or {})}
    return publish_files(files, team=team, user=user, visibility="site")


def fields(**values):
    return {"version": "1.0.0", "form_token": "x" * 26} | values


TRIES = """
- name: <b>a long stay</b>
  inputs: {city: 上海, days: 7}
  debug: true
  expect: {output: {}}
- name: fails
  inputs: {city: x}
  expect: {code: INVALID_PARAM}
- name: does not start
  inputs: {}
  expect: {refused: ENTRY_REQUIRED}
"""
CASES = """
cases:
  - name: a short stay
    inputs: {city: Kyiv, days: 1}
  - name: times out
    inputs: {city: Oslo}
    expect: {status: timed_out}
"""


@pytest.fixture
def sampled(team, alice):
    files = {"tests/tries.yaml": TRIES.encode(), "tests/cases.yaml": CASES.encode()}
    return publish(team, alice, WEATHER, files)


def test_sample_of_the_package_fills_in_the_form_and_keeps_the_team(browse, alice, sampled):
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    client = browse(alice)
    links = part(client.get("/skills/docs/weather/run/?team=other"), "sample-calls").tags("a")
    assert [link.text for link in links][1:] == ["a short stay", "<b>a long stay</b>"]
    shown = {}
    for link in links:
        page = client.get(f"/skills/docs/weather/run/{link['href']}")
        (current,) = part(page, "sample-calls").select("a", aria_current="true")
        assert current.text == link.text
        assert select(page, "option", value="other", selected="")
        shown[link.text] = [select(page, "input", name=f"input-{n}")[0]["value"] for n in (0, 1)]
    assert list(shown.values()) == [["Rome", "2"], ["Kyiv", "1"], ["上海", "7"]]
    assert "open" in part(page, "advanced").attributes  # the last sample sets debug


def test_unknown_sample_leaves_the_defaults(browse, alice, sampled):
    for number in ("9", "x", "-1"):
        page = browse(alice).get(f"/skills/docs/weather/run/?example={number}")
        assert select(page, "input", name="input-1")[0]["value"] == "3"
        assert "open" not in part(page, "advanced").attributes


def test_package_with_broken_tests_has_no_samples(browse, alice, team):
    files = {"tests/tries.yaml": b"- [", "tests/cases.yaml": b"\xff"}
    publish(team, alice, PLAIN, files)
    assert not parts(browse(alice).get("/skills/docs/weather/run/"), "sample-calls")


def test_advanced_options_open_for_another_team(browse, alice, team):
    publish(team, alice, PLAIN)
    other = Team.objects.create(slug="other", name="Other")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    client = browse(alice)
    assert "open" not in part(client.get("/skills/docs/weather/run/"), "advanced").attributes
    assert "open" in part(client.get("/skills/docs/weather/run/?team=other"), "advanced").attributes


NESTED = """---
name: nested
description: Takes a list of lines.
version: 1.0.0
input_schema:
  type: object
  properties:
    lines:
      type: array
      items:
        type: object
        required: [item]
        properties:
          item: {type: string}
          count: {type: integer, minimum: 0, default: 1}
          data_path: {type: string}
---
# Nested
"""


def test_items_and_uploads_stay_when_the_form_is_drawn_again(browse, bob, team, alice):
    publish(team, alice, NESTED)
    client, address = browse(bob), "/skills/docs/nested/run/"
    assert not parts(client.get(address), "item")
    added = client.post(address, fields(redraw="add:input-0"))
    assert (added.status_code, len(parts(added, "item"))) == (200, 1)
    assert not parts(added, "errors")
    values = {"input-0-items": "0", "input-0-0-0": "tea", "input-0-0-1": "0"}
    upload = SimpleUploadedFile("days.txt", b"sunny")
    again = client.post(address, fields(**values, **{"input-0-0-2-file": upload, "redraw": "add:input-0"}))
    assert "days.txt" in part(again, "kept").text
    assert select(again, "input", name="input-0-0-1")[0]["value"] == "0"
    refused = client.post(address, fields(**(values | {"input-0-0-1": "-1"})))
    assert refused.status_code == 422
    assert part(refused, "errors").values("field") == ["input-0-0-1"]
    assert part(refused, "errors").tags("a")[0]["href"] == "#id_input-0-0-1"
    client.post(address, fields(**values))
    run = Run.objects.get()
    assert run.request["inputs"] == {"lines": [{"item": "tea", "count": 0}]}
    page = client.get(f"{address}?rerun_of={run.uid}")
    assert select(page, "input", name="input-0-0-0")[0]["value"] == "tea"


@pytest.mark.parametrize("address", ["/skills/docs/nested/run/", "/schedules/new/?skill=docs/nested"])
def test_page_loads_the_script_that_redraws_the_inputs(browse, alice, team, address):
    publish(team, alice, NESTED)
    page = browse(alice).get(address)
    assert any("htmx" in script.attributes.get("src", "") for script in select(page, "script"))
    (inputs,) = select(page, "div", id="run-inputs")
    assert inputs.attributes["hx-select"] == inputs.attributes["hx-target"] == "#run-inputs"
