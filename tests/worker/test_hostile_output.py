"""What a script writes to harm who keeps it: depths, pieces, lines without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker import execution, states

pytestmark = [pytest.mark.attack, pytest.mark.row("C6", "P5"), pytest.mark.django_db(transaction=True)]

DEEP = """
    import os
    os.chdir("output")
    for _level in range(1500):
        os.mkdir("d")
        os.chdir("d")
    print("{}")
"""


@pytest.fixture
def ran(published, ask):
    def ran(script):
        run = ask(published(script=script))
        execution.execute(states.claim_next("worker"))
        run.refresh_from_db()
        return run

    return ran


def test_nothing_is_left_of_folders_that_are_too_deep_to_be_walked(ran, settings):
    assert ran(DEEP).status == "succeeded"
    assert list(Path(settings.SKILLQUAY_VAR, "jobs").iterdir()) == []
