from __future__ import annotations

import pytest

from tests.imports.serving import serving


@pytest.fixture
def server(settings):
    """A server on loopback that the site lists; ``server.answering["/path"] = function(handler)``."""
    with serving() as running:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{running.port}"]
        running.url = f"http://127.0.0.1:{running.port}"
        yield running
