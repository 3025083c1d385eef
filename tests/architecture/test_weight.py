"""What is heavy is loaded where it is used: each start of a command or worker would pay for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT

_ASKED = (
    "import django, sys; django.setup(); "
    "heavy = lambda *names: [name for name in names if name in sys.modules]; "
    "pages = heavy('rest_framework.serializers', 'psycopg', 'pygments'); "
    "import worker.service.tasks, worker.executors.by_protocol, portal.urls; "
    "models = heavy('pydantic_ai', 'openai', 'anthropic', 'httpx2', 'tiktoken'); "
    "print(pages, models)"
)


@pytest.mark.row("D5", "P9")
def test_no_command_loads_what_pages_need_and_no_process_a_model_s_clients_before_a_loop_begins(tmp_path):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "SKILLQUAY_VAR": str(tmp_path),
        "DATABASE_URL": "",
    }
    said = subprocess.run(
        [sys.executable, "-c", _ASKED], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[] []"
