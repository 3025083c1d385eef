"""Every attack, in every tier of this machine, by root and by a plain user: each is stopped.

``make test-full`` draws eight of the twelve combinations of person and tier, and ``make test`` one.
"""

from __future__ import annotations

import pytest

from tests.attacks.catalogue import EVERY_ATTACK
from tests.attacks.people import PEOPLE, TIERS, Absent, tried
from worker.sandbox.doctor.attacks.arena import attacks_on

pytestmark = [
    pytest.mark.slow("runs hostile scripts in a sandbox"),
    pytest.mark.attack,
    pytest.mark.row("C6"),
]


@pytest.mark.matrix("person", "tier", at_most=1, full_at_most=8)
@pytest.mark.parametrize(
    ("tier", "attack"), [(tier, attack) for tier in TIERS for attack in attacks_on(tier, EVERY_ATTACK)]
)
@pytest.mark.parametrize("person", PEOPLE)
def test_attack_is_stopped(person, tier, attack):
    try:
        check = tried(person, tier)[attack]
    except Absent as absent:
        pytest.skip(str(absent))
    assert check.passed, check.detail


@pytest.mark.matrix("person", "tier", at_most=1, full_at_most=8)
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("person", PEOPLE)
def test_nothing_but_the_named_attacks_is_reported(person, tier):
    try:
        assert list(tried(person, tier)) == attacks_on(tier, EVERY_ATTACK)
    except Absent as absent:
        pytest.skip(str(absent))


@pytest.mark.parametrize("tier", TIERS)
def test_there_are_at_least_eighty_attacks_a_tier(tier):
    assert len(attacks_on(tier, EVERY_ATTACK)) >= 80
