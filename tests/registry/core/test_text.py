"""Parts of messages that come from the database."""

from __future__ import annotations

import pytest
from django.utils.translation import gettext, override

from registry.core.text import choice_label
from registry.models import ReportState
from registry.review.errors import REPORT_DECIDED

pytestmark = pytest.mark.row("P8")


def test_state_in_an_error_is_shown_in_the_reader_s_language():
    with override("zh-hans"):
        problem = REPORT_DECIDED.refusal(state=choice_label(ReportState.DISMISSED), reason="").problems[0]
        label = str(ReportState.DISMISSED.label)
        assert problem.params["state"] == "Dismissed" != label
        assert label in problem.message(gettext)
