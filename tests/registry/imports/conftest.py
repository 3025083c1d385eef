from __future__ import annotations

import pytest

from tests.servers.http import KEYS, run_server


@pytest.fixture
def server(settings):
    """A server on loopback that the site may call; ``server.responders["/path"] = function(handler)``."""
    with run_server() as running:
        settings.SKILLQUAY_OUTBOUND_ALLOW = [f"127.0.0.1:{running.port}"]
        yield running


@pytest.fixture(scope="session")
def moto():
    """An S3 server by moto. Its buckets live as long as the process, so each test names its own."""
    import boto3
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    keys = {"aws_access_key_id": KEYS["access_key"], "aws_secret_access_key": KEYS["secret_key"]}
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **keys)
    client.endpoint = f"http://{host}:{port}"
    yield client
    client.close()
    running.stop()
