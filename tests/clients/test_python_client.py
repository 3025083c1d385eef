"""A Python client, generated from the OpenAPI document that a running site serves, does a day's work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site import ROOT

pytestmark = [pytest.mark.row("P7"), pytest.mark.slow("starts a site and generates a client")]
PROGRAM = Path(__file__).with_name("python_client.py")
HOWTO = ROOT / "docs/howto/use-the-api-from-python.md"


@pytest.fixture(scope="module")
def document(site):
    return json.loads(site.ask("/api/schema/?format=json", token=None)[2])


@pytest.fixture(scope="module")
def generated(site, tmp_path_factory):
    """The folder of the client and what the generator printed."""
    folder = tmp_path_factory.mktemp("generated")
    program = Path(sys.executable).with_name("openapi-python-client")
    address = ["--url", f"{site.url}/api/schema/", "--output-path", str(folder / "client")]
    made = subprocess.run([program, "generate", *address], capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "client", made.stdout + made.stderr


def operations(document):
    return [
        operation
        for methods in document["paths"].values()
        for name, operation in methods.items()
        if name != "parameters"
    ]


def test_generator_understands_every_operation(generated, document):
    client, printed = generated
    made = {file.stem for file in client.glob("skillquay_client/api/*/*.py")} - {"__init__"}
    assert made == {operation["operationId"] for operation in operations(document)}
    assert "Cannot parse" not in printed
    # The generator knows one media type of archives: each of these operations accepts that type too.
    warned = set(re.findall(r"WARNING parsing (POST \S+)", printed))
    assert warned <= {
        f"POST /api/v1/{path}" for path in ("imports", "inputs", "packages", "packages/migrate")
    }
    assert {*re.findall(r"^[A-Z][a-z]+ content type .*", printed, re.M)} <= {
        f"Unsupported content type {kind}" for kind in other_types(document)
    }


def other_types(document):
    bodies = [operation.get("requestBody", {}).get("content", {}) for operation in operations(document)]
    return {kind for body in bodies if "application/octet-stream" in body for kind in body}


@pytest.mark.client("generated Python client", "publish", "run", "manage a team")
def test_client_publishes_runs_and_manages_a_team(site, generated):
    environment = {**os.environ, "PYTHONPATH": str(generated[0])}
    argv = [sys.executable, str(PROGRAM), site.url, site.token]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]


def test_program_fits_the_types_of_the_client(generated, tmp_path):
    options = ["--strict", "--follow-imports", "silent", "--config-file=", "--cache-dir", str(tmp_path)]
    environment = {**os.environ, "MYPYPATH": str(generated[0])}
    argv = [sys.executable, "-m", "mypy", *options, str(PROGRAM)]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.client("generated Python client", "program of the guide")
def test_program_of_the_guide_works_as_written(site, generated, tmp_path):
    program = "\n".join(re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.S))
    environment = {**os.environ, "PYTHONPATH": str(generated[0]), "SITE": site.url, "TOKEN": site.token}
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("succeeded") == 2
