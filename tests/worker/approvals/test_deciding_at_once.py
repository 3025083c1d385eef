"""Of processes that decide on the same waiting runs at one moment one wins, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.cluster,
    pytest.mark.row("D6", "P9"),
    pytest.mark.matrix("rounds", at_most=1),
]

ROUNDS = 2
LET, ENDED = "queued", {"refused", "cancelled"}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def rounds(request, tmp_path_factory):
    """``{kind: [what each process did and how the runs stand, …]}``"""
    postgres = request.param == "postgresql"
    with cluster.own_database(cluster.postgres()) if postgres else nullcontext("") as database:
        environment = {
            **os.environ,
            "DATABASE_URL": database,
            "STORAGE_URL": cluster.own_storage(),
            "SKILLQUAY_VAR": str(tmp_path_factory.mktemp(request.param)),
        }
        migrated.lay(environment)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.worker.approvals.deciding_at_once", str(ROUNDS)],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    return {kind: [each for each in found if each["kind"] == kind] for kind in {one["kind"] for one in found}}


def test_of_four_who_decide_on_one_run_one_does_and_the_others_are_told(rounds):
    for each in rounds["deciders"]:
        (won,) = [done for done in each["did"] if done != "APPROVAL_DECIDED"]
        assert each["runs"][0] == [won, 1]
        assert won in ("queued", "refused")


def test_a_run_is_decided_or_cancelled_and_never_both(rounds):
    """What was let may still be cancelled as any queued run; what was denied or cancelled is neither."""
    for each in rounds["cancel"]:
        let, first, denied, second = each["did"]
        assert {let, denied} <= {"queued", "refused", "APPROVAL_DECIDED"}
        assert "APPROVAL_DECIDED" in (let, denied)
        status, decisions = each["runs"][0]
        assert decisions == [let, denied].count("queued") + [let, denied].count("refused")
        assert status == ("refused" if denied == "refused" else "cancelled")
        assert (first, second).count("cancelled") == (0 if denied == "refused" else 1)


def test_a_run_is_decided_or_expires_and_never_both(rounds):
    for each in rounds["expiry"]:
        let, first, denied, second = each["did"]
        outcomes = [done for done in (let, first, denied, second) if done not in ("APPROVAL_DECIDED", "over")]
        assert len(outcomes) == 1
        assert each["runs"][0] == (["refused", 0] if outcomes == ["expired"] else [outcomes[0], 1])
        assert each["runs"][0][0] == (LET if outcomes == [LET] else "refused")


@pytest.mark.parametrize("kind", ["rule", "token"])
def test_a_rule_that_is_made_while_several_wait_lets_all_start_and_misses_none(rounds, kind):
    for each in rounds[kind]:
        assert set(each["did"]) <= {"queued", "APPROVAL_DECIDED", "cancelled", "allow", "waiting_approval"}
        statuses = [status for status, _decisions in each["runs"]]
        assert statuses == ["queued", "cancelled" if kind == "rule" else "queued", "queued", "queued"]
        assert all(decisions <= 1 for _status, decisions in each["runs"])


def test_a_denial_and_an_allowance_that_are_made_at_once_leave_nothing_waiting(rounds):
    known = {"queued", "refused", "APPROVAL_DECIDED", "RULE_DENIED", "waiting_approval"}
    for each in rounds["denial"]:
        assert set(each["did"]) <= known
        assert len(each["runs"]) == 3 + (each["did"][3] != "RULE_DENIED")
        assert {status for status, _decisions in each["runs"]} <= {LET, *ENDED}
        assert all(decisions <= 1 for _status, decisions in each["runs"])
