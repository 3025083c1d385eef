"""What a failure code means, in the reader's language, with what its kept message says of this case."""

from __future__ import annotations

import pytest

from portal.showing.explanations import read_back, says_the_same
from registry.packages.problems import problem
from tests.run_samples import make_run

OFF = problem("DEPENDENCIES_OFF", kind="Python", setting="SKILLQUAY_PYTHON_INDEX")
TEXT = OFF.message()


@pytest.mark.row("B3")
@pytest.mark.parametrize(
    ("template", "text", "found"),
    [
        ("No index of %(kind)s packages.", "No index of Python packages.", {"kind": "Python"}),
        ("No index of %(kind)s packages.", "No index of Python packages. And more", None),
        ("No index of %(kind)s packages.", "No index", None),
        ("%(a)s and %(b)s: %(c)s", "x and y and z: 1: 2", {"a": "x", "b": "y and z", "c": "1: 2"}),
        ("The run was cancelled.", "the run was cancelled", {}),
        ("The run was cancelled.", "", None),
    ],
)
def test_a_kept_text_gives_its_values_back(template, text, found):
    assert read_back(template, text) == found


@pytest.mark.row("B3")
def test_a_script_s_own_message_is_never_taken_for_the_code_s():
    assert says_the_same("DEPENDENCIES_OFF", TEXT)
    assert not says_the_same("DEPENDENCIES_OFF", "the index is off")
    assert not says_the_same("THEIR_OWN", "anything")


@pytest.mark.row("B3", "P8")
@pytest.mark.parametrize("details", [{"problems": [OFF.document()]}, {"remedy": OFF.remedy()}])
@pytest.mark.django_db
def test_a_refused_run_says_why_in_the_reader_s_language(browse, bob, charlie, public, team, details):
    kept = {"error": {"code": OFF.code, "details": details}}
    run = make_run(
        public.latest, bob, team, status="refused", failure_code="DEPENDENCIES_OFF", message=TEXT, result=kept
    )
    address = f"/runs/{run.uid}/"
    chinese = browse(bob, "zh-hans").get(address).text
    assert f'<p class="any"><bdi>{TEXT}' not in chinese
    assert "本站点没有 Python 包的索引" in chinese
    assert "由管理员在 SKILLQUAY_PYTHON_INDEX 中指定" in chinese
    assert browse(charlie).get(address).status_code == 404
