"""One running site for all clients."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.clients import action_table
from tests.site import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("clients"), SKILLQUAY_EXAMPLES="0")
    site.set_up("docs")
    site.start()
    yield site
    site.stop()


@pytest.fixture(scope="session")
def change(site):
    """``change(path, **fields)``: a PATCH under /api/v1/."""

    def patch(path, **fields):
        headers = {"Authorization": f"Bearer {site.token}", "Content-Type": "application/json"}
        data = json.dumps(fields).encode()
        request = urllib.request.Request(f"{site.url}/api/v1/{path}", data, headers, method="PATCH")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    return patch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    action_table.record(item, report)
    return report


def pytest_terminal_summary(terminalreporter):
    if table := action_table.lines():
        terminalreporter.section("clients")
        terminalreporter.write_line("\n".join(table))
