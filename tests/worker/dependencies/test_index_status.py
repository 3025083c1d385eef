"""The status of a file in a package index reaches the installer, which knows which ones to retry."""

from __future__ import annotations

import pytest

from tests.servers.http import run_server
from worker.dependencies.installers.package_index import Source

pytestmark = pytest.mark.row("C6")


@pytest.fixture
def served(settings):
    """``served(status)``: the reply to the installer, and the refusal that the source keeps."""
    with run_server() as server:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{server.port}"]

        def reply(status):
            server.default_responder = lambda handler: handler.send(status, b"body")
            source = Source(f"{server.url}/", 1000, 10)
            return source.file(f"{server.url}/a.whl"), source.error

        yield reply


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
def test_error_status_is_passed_on_without_the_body(served, status):
    reply, error = served(status)
    assert (reply.status, b"".join(reply.body), error.problems[0].params["status"]) == (status, b"", status)


@pytest.mark.parametrize("status", [204, 304, 599])
def test_other_status_becomes_502(served, status):
    assert served(status)[0].status == 502


def test_file_is_streamed(served):
    reply, error = served(200)
    assert (reply.status, b"".join(reply.body), error) == (200, b"body", None)
