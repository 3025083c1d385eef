"""Every attack, in every tier of this machine, by root and by a plain user: each is stopped."""

from __future__ import annotations

import pytest

from tests.attacks.people import PEOPLE, TIERS, Absent, tried
from worker.sandbox.attacks.bombs import BOMBS
from worker.sandbox.attacks.probes import PROBES
from worker.sandbox.attacks.tried import LOST_WORKER

ATTACKS = [*PROBES, *(bomb.attack for bomb in BOMBS), LOST_WORKER]

pytestmark = [pytest.mark.attack, pytest.mark.row("C6")]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("person", PEOPLE)
def test_attack_is_stopped(person, tier, attack):
    try:
        check = tried(person, tier)[attack]
    except Absent as absent:
        pytest.skip(str(absent))
    assert check.passed, check.detail


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("person", PEOPLE)
def test_nothing_but_the_named_attacks_is_reported(person, tier):
    try:
        assert list(tried(person, tier)) == ATTACKS
    except Absent as absent:
        pytest.skip(str(absent))
