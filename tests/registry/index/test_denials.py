"""Which clauses of a text say what a skill is not for, in both languages."""

from __future__ import annotations

import pytest

from registry.index.denials import split_denials

pytestmark = pytest.mark.row("C4")


@pytest.mark.parametrize(
    "text",
    [
        "Writes letters. Not for contracts.",
        "It isn’t meant for contracts.",
        "Cannot be used for contracts.",
        "Not to be used with contracts.",
        "Avoid using it on contracts.",
        "Unsuitable for contracts.",
        "Does not handle contracts.",
        "Doesn't support contracts.",
        "Not intended to read contracts.",
        "写信。不能用于contracts。",
        "写信；禁止用于contracts",
        "请勿使用于contracts。",
        "不要用来写contracts。",
        "不建议用于contracts。",
        "不支持contracts。",
        "不適用於contracts。",
    ],
)
def test_what_a_skill_is_not_for_is_denied(text):
    found = split_denials(text)
    assert "contracts" in found.denied
    assert "contracts" not in found.positive


@pytest.mark.parametrize(
    "text",
    [
        "It is not only for letters but contracts.",
        "Not for letters, but for contracts.",
        "Notable for contracts.",
        "不仅用于信件，也用于contracts。",
        "不但适用于contracts。",
        "不用于信件，而是用于contracts。",
        "Not for letters. Use it for contracts.",
    ],
)
def test_what_it_is_for_stays_said(text):
    assert "contracts" in split_denials(text).positive
