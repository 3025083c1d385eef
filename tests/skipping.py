"""Which tests are skipped: those of PostgreSQL on another database.

``TEST_NOTHING_SKIPPED=1``, set where everything is installed, turns a skip into a failure.
"""

from __future__ import annotations

import os

import pytest
from django.db import connection


def pytest_runtest_setup(item):
    if item.get_closest_marker("postgresql") is not None and connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL lets two transactions write at once")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("TEST_NOTHING_SKIPPED") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, where nothing may be: {report.longrepr[2]}"


def require_network():
    """Skips where no tier gives a run a network of its own."""
    from worker.sandbox.tiers import available

    if not {"bwrap", "nsrun"} & {tier.name for tier in available.usable_tiers() if tier.usable}:
        pytest.skip("no tier of this machine has a network of its own")
