"""Change numbers as a process reads them, also from a database that was replaced by an older one."""

from __future__ import annotations

import pytest

from registry.changes.numbers import ChangeLog
from registry.models import ChangeKind

pytestmark = pytest.mark.row("P9")
SKILL, USER = (ChangeKind.SKILL.value, 7), (ChangeKind.USER.value, 8)


def test_number_that_falls_ends_everything_computed_before():
    log = ChangeLog()
    log.start(1_000)
    assert log.is_current(before := log.number, [SKILL])
    log.start(900)
    assert not log.is_current(before, [SKILL])
    after = log.number
    log.add(1_100, [(*USER, 901), (*SKILL, 1_100)])
    assert log.stored == 1_100
    assert not log.is_current(before, [SKILL])
    assert not log.is_current(after, [USER])
    assert log.is_current(log.number, [SKILL, USER])


def test_row_above_the_number_of_the_site_keeps_no_older_answer():
    log = ChangeLog()
    log.start(900)
    log.add(901, [(*SKILL, 5_000)])
    kept = log.number
    log.add(902, [(*SKILL, 5_000), (*USER, 902)])
    assert not log.is_current(kept, [USER])
    assert not log.is_current(kept, [SKILL])
    assert log.is_current(log.number, [USER])
