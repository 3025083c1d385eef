"""Views of the run list that can't be saved."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refusal
from worker.saved_views import saved_views

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.mark.parametrize(
    ("name", "query", "code"),
    [
        ("", "status=failed", "SAVED_VIEW_NAME_INVALID"),
        ("Failed", "", "SAVED_VIEW_EMPTY"),
        ("Failed", "x" * 1001, "SAVED_VIEW_TOO_LONG"),
        ("Failed", "status=failed", "SAVED_VIEWS_TOO_MANY"),
    ],
)
def test_view_is_refused(bob, monkeypatch, name, query, code):
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 1)
    saved_views.save_view(bob, "Lost", "status=lost")
    with pytest.raises(Refusal) as refused:
        saved_views.save_view(bob, name, query)
    assert refused.value.code == code
    assert bob.saved_run_views.count() == 1
