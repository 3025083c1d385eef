"""What a script writes to harm who keeps it: depths, pieces, lines without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import not_none
from worker.executors import conductor
from worker.queue import claims

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
def ran(publish_skill, queue_run):
    def ran(script):
        run = queue_run(publish_skill(script=script))
        conductor.execute(not_none(claims.claim_next("worker")))
        run.refresh_from_db()
        return run

    return ran


def test_nothing_is_left_of_folders_that_are_too_deep_to_be_walked(ran, settings):
    assert ran(DEEP).status == "succeeded"
    assert list(Path(settings.SKILLQUAY_VAR, "jobs").iterdir()) == []
