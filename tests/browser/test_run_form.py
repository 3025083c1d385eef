"""Lists and choices of the run form, with scripts and without."""

from __future__ import annotations

import json
import re

import pytest

from tests.factories.skills import publish_files
from tests.portal.test_nested_form import ORDER
from worker.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.row("C5")]


@pytest.mark.parametrize("look", [{}, {"java_script_enabled": False}], ids=["scripts", "no-scripts"])
def test_items_and_choices_are_filled_in(page, sign_in, team, alice, look, monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)
    head = f"name: order\ndescription: Takes orders.\nversion: 1.0.0\ninput_schema: {json.dumps(ORDER)}"
    files = {"SKILL.md": f"---\n{head}\n---\n# Order\n".encode(), "scripts/order.py": b"print(1)\n"}
    publish_files(files, team=team, user=alice)
    sign_in(alice)
    page.goto("/skills/docs/order/run/")
    page.fill("[name=input-0-0]", "Ada")
    page.click("#id_input-1-add")
    page.fill("[name=input-1-0-0]", "tea")
    page.click("#id_input-1-add")
    page.fill("[name=input-1-1-0]", "milk")
    page.check("[name=input-3-kind][value='1']")
    if look:
        page.click("#id_input-3 button[value=show]")
    assert page.input_value("[name=input-3-1-1]") == "out"
    page.click("button[value='remove:input-1:0']")
    page.locator("[data-part=item]").nth(1).wait_for(state="detached")
    page.click("#run-form button[name=run]")
    page.wait_for_url(re.compile(r"/runs/\w+/(#.*)?$"))
    assert Run.objects.get().request["inputs"] == {
        "customer": {"name": "Ada", "vip": True},
        "lines": [{"item": "milk", "count": 1}],
        "target": {"kind": "folder", "name": "out"},
    }
