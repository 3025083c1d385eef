"""What a failure code means, in the reader's language, with what its kept message says of this case."""

from __future__ import annotations

import pytest
from django.utils import translation
from django.utils.translation import gettext

from portal.presenters.explanations import extract_params, is_standard_message
from tests.factories.runs import make_run
from tests.pages import is_chinese, parsed, select
from worker.dependencies.errors import DEPENDENCIES_DISABLED

OFF = DEPENDENCIES_DISABLED.problem(kind="Python", setting="SKILLQUAY_PYTHON_INDEX")
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
    assert extract_params(template, text) == found


@pytest.mark.row("B3")
def test_a_script_s_own_message_is_never_taken_for_the_code_s():
    assert is_standard_message("DEPENDENCIES_DISABLED", TEXT)
    assert not is_standard_message("DEPENDENCIES_DISABLED", "the index is off")
    assert not is_standard_message("THEIR_OWN", "anything")


@pytest.mark.row("B3", "P8")
@pytest.mark.parametrize("details", [{"problems": [OFF.document()]}, {"remedy": OFF.remedy()}])
@pytest.mark.django_db
def test_a_refused_run_says_why_in_the_reader_s_language(browse, bob, charlie, public, team, details):
    kept = {"error": {"code": OFF.code, "details": details}}
    run = make_run(
        public.latest,
        bob,
        team,
        status="refused",
        failure_code="DEPENDENCIES_DISABLED",
        message=TEXT,
        result=kept,
    )
    address = f"/runs/{run.uid}/"
    chinese = browse(bob, "zh-hans").get(address).text
    assert not [found for found in select(chinese, "p", class_="any") if found.text.startswith(TEXT)]
    with translation.override("zh-hans"):
        translated = OFF.message(gettext), OFF.remedy(gettext)
    for text in translated:
        assert is_chinese(text)
        assert text in parsed(chinese)
    assert browse(charlie).get(address).status_code == 404
