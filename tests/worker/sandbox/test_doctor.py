"""The doctor's document and the command that prints it; the attacks themselves are in tests/attacks."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from worker.sandbox.doctor import examine as doctor
from worker.sandbox.doctor.attacks import arena
from worker.sandbox.doctor.attacks.arena import Check
from worker.sandbox.tiers.available import TierReport

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]


@pytest.fixture
def machine(monkeypatch):
    """``machine(passed=…)``: one usable tier on which one attack was tried, one tier that does not work."""

    def machine(*, passed=True, usable=True):
        reports = [
            TierReport("bwrap", usable, "", ""),
            TierReport("nsrun", False, "no namespaces", "allow them"),
            TierReport("landlock", False, "too old", "a newer kernel"),
        ]
        monkeypatch.setattr(doctor, "usable_tiers", lambda site: reports)
        monkeypatch.setattr(
            arena, "all_attacks", lambda tier, site: [Check("fork bomb", passed, "stopped at 30")]
        )

    return machine


def test_the_document_names_every_tier(machine):
    machine()
    tiers = doctor.examine_tiers()["tiers"]
    assert [tier["name"] for tier in tiers] == ["bwrap", "nsrun", "landlock"]
    assert set(tiers[0]) == {
        *("name", "usable", "reason", "fix", "scratch_reason", "enforcement", "checks", "not_tried")
    }
    assert tiers[0]["checks"] == [{"attack": "fork bomb", "passed": True, "detail": "stopped at 30"}]
    assert (tiers[1]["usable"], tiers[1]["reason"], tiers[1]["fix"]) == (False, "no namespaces", "allow them")
    assert (tiers[2]["usable"], tiers[2]["reason"]) == (False, "too old")


def test_json_is_one_document(machine, capsys):
    machine()
    call_command("sandbox_doctor", "--json")
    assert json.loads(capsys.readouterr().out)["tiers"][0]["usable"]


def test_the_table_shows_checks_reasons_and_fixes(machine, capsys):
    machine()
    call_command("sandbox_doctor")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "ok" in line and "fork bomb" in line]
    (at,) = [at for at, line in enumerate(lines) if line.startswith("nsrun: ")]
    assert lines[at].endswith("no namespaces")
    assert lines[at + 1].endswith("allow them")


@pytest.mark.parametrize("state", [{"passed": False}, {"usable": False}], ids=["an attack passed", "no tier"])
def test_the_exit_status_is_one_when_the_machine_is_not_sound(machine, state, capsys):
    machine(**state)
    with pytest.raises(SystemExit) as ended:
        call_command("sandbox_doctor", "--json")
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)
