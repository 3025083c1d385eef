"""The select of teams writes the options that Django's own select writes."""

from __future__ import annotations

import pytest
from django import forms

from portal.forms.long_select import LongSelect
from tests.pages import select

pytestmark = pytest.mark.row("P8")
CHOICES = [("", "No team"), ("docs", "docs"), ('a"b', "<b>&amp;</b>"), (3, "three")]


@pytest.mark.parametrize("value", ["", "docs", 'a"b', 3, None, "other"])
def test_options_are_those_of_djangos_select(value):
    own, usual = (
        str(kind(choices=CHOICES).render("team", value, {"id": "id_team", "required": True}))
        for kind in (LongSelect, forms.Select)
    )
    assert _options(own) == _options(usual)
    (tag,) = select(own, "select", name="team", id="id_team")
    assert "required" in tag.attributes
    assert "<b>" not in own


def _options(html):
    return [
        (option["value"], option.text, "selected" in option.attributes) for option in select(html, "option")
    ]
