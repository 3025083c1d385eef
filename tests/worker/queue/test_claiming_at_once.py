"""Four who claim at one moment: no run twice, no team starved, no deadlock, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT
from tests.worker.queue.claiming_at_once import PLAYERS, QUEUED

pytestmark = [
    pytest.mark.full,
    pytest.mark.cluster,
    pytest.mark.row("C6", "P9"),
    pytest.mark.matrix("claims", at_most=1),
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def claims(request, tmp_path_factory):
    """``[player, team, run, of its team at once, when]`` of each claim, in their order."""
    postgres = request.param == "postgresql"
    with cluster.own_database(cluster.postgres()) if postgres else nullcontext("") as database:
        folder = str(tmp_path_factory.mktemp(request.param))
        environment = {**os.environ, "DATABASE_URL": database, "STORAGE_URL": "", "SKILLQUAY_VAR": folder}
        migrated.lay(environment)
        argv = [sys.executable, "-m", "tests.worker.queue.claiming_at_once"]
        ended = subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 0, ended.stderr
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    odd = [each for each in told if isinstance(each, str)]
    assert odd == [], "\n".join(odd)
    return sorted(told, key=lambda each: each[4])


def test_each_run_is_claimed_by_one_though_a_team_goes_meanwhile(claims):
    runs = [run for _player, _team, run, _at_once, _when in claims]
    assert len(runs) == len(set(runs)) == sum(QUEUED.values())


@pytest.mark.parametrize("team", ["little", None])
def test_who_asks_for_little_is_served_before_who_asks_for_much_has_all(claims, team):
    """Five take turns: its nth run comes after some five times n claims.

    The last ones don't count: each player may be suspended between its claim and its message.
    """
    order = [each[1] for each in claims]
    places = [place for place, slug in enumerate(order) if slug == team]
    counted = QUEUED[team] - PLAYERS
    assert places[counted - 1] < 6 * counted + 4 * PLAYERS
    assert order.index("much") < 4 * PLAYERS, "nor does it wait for them"


def test_a_team_has_never_more_at_once_than_it_may(claims):
    assert {at_once for _player, team, _run, at_once, _when in claims if team == "held"} == {1}
