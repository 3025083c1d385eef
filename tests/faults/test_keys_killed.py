"""An idempotency key whose process was killed is free at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("a site's own database"),
    pytest.mark.faults,
    pytest.mark.row("P2", "P9"),
]


def test_key_of_a_killed_request_is_processed_at_once(make_site):
    site = make_site()
    environment = {**os.environ, **site.environment, "TOKEN": site.token}
    argv = [sys.executable, "-m", "tests.faults.key_holder"]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *under_way, first, again = json.loads(done.stdout)
    for answer in under_way:
        assert (answer["status"], int(answer["Retry-After"]) <= 5) == (409, True)
    assert first == {"status": 200}
    assert again == {"status": 200, "Idempotency-Replayed": "true"}
