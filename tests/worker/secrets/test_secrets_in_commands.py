"""What a model is told of a command of a run that was given secrets."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worker.attempts.context import AttemptContext
from worker.executors.agent_loop.tools import _result_text
from worker.executors.commands import Commands, command_step
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import SandboxResult
from worker.sandbox.tiers import available

pytestmark = pytest.mark.row("C6")


@pytest.fixture
def said(monkeypatch, tmp_path):
    """A command that printed a secret, as the loop gets it, and the log it left."""
    secret, log = "Zk8!quince", []

    def run(job, *, on_output, check_stop, site):
        assert job.environment["API_KEY"] == secret
        on_output("stderr", secret[:4].encode())
        on_output("stderr", secret[4:].encode())
        text = f"key={secret} {json.dumps(secret)}".encode()
        return SandboxResult("exited", 1, None, text, text, text, 0.1, "bwrap", {})

    monkeypatch.setattr(available, "run", run)
    watch: Any = SimpleNamespace(on_output=lambda stream, text: log.append(text), check_stop=lambda: None)
    claim: Any = SimpleNamespace(limits={"timeout_s": 5.0}, files=[])
    security = SimpleNamespace(environment={}, network="none", network_allowlist=())
    package: Any = SimpleNamespace(folder=tmp_path, paths=(), manifest=SimpleNamespace(security=security))
    attempted = AttemptContext(claim, watch, package, Path(tmp_path), secrets={"API_KEY": secret})
    assert attempted.limits == Limits(timeout_s=5.0)
    call: Any = SimpleNamespace(argv=("x",), stdin=b"", environment={}, channel=False)
    return Commands(attempted, call).run(("sh", "-c", "env")), secret, log


def test_neither_the_model_nor_step_nor_log_has_a_granted_secret(said):
    command, secret, log = said
    step = command_step(command, "env", kind="command", number=1, started_at=0.0)
    for text in (_result_text(command), json.dumps([step.output, step.error]), b"".join(log).decode()):
        assert secret not in text
        assert "***" in text
