"""The page about clients lists what the other tests of this folder try."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients.action_table import named_actions

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/reference/clients.md"


@pytest.mark.row("P7")
def test_page_lists_every_tested_action(request):
    text = PAGE.read_text().partition("\n## Tested actions\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| ([^|]+) \| ([^|]+) \| passed \|$", text, re.M))
    named = named_actions(request.session.items)
    assert named, "run the whole folder"
    assert named <= listed
    collected = {item.path for item in request.session.items}
    if collected == set(Path(__file__).parent.glob("test_*.py")) and not request.config.getoption("lf"):
        assert named == listed
