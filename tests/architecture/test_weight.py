"""What is heavy is loaded where it is used: a worker that leads no agent loop does not carry one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.test_arrow import ROOT

_ASKED = (
    "import django, sys; django.setup(); import worker.tasks, worker.ways, portal.urls; "
    "heavy = ('pydantic_ai', 'openai', 'anthropic', 'httpx2', 'tiktoken')\n"
    "print([name for name in heavy if name in sys.modules])"
)


@pytest.mark.row("D5", "P9")
def test_no_process_loads_a_model_s_clients_before_a_loop_begins(tmp_path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings", "SKILLQUAY_VAR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", _ASKED], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"
