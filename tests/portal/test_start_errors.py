"""What stops a start: each ends with one sentence and its remedy, not with a traceback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from portal import env
from portal.management.commands import up
from tests.conftest import ROOT
from tests.site import free_port

pytestmark = pytest.mark.row("P9")


def _manage(*arguments, argv=(sys.executable, "manage.py"), **environment):
    return subprocess.run(
        [*argv, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_up_refuses_a_port_in_use_before_it_starts_anything(settings, tmp_path, monkeypatch):
    settings.SKILLQUAY_VAR = tmp_path
    monkeypatch.setattr(up, "Supervisor", lambda *_, **__: pytest.fail("a process was started"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings.SKILLQUAY_PORT = other.getsockname()[1]
        with pytest.raises(CommandError) as refused:
            call_command("up", skip_checks=True)
    assert "SKILLQUAY_PORT" in str(refused.value)
    assert str(settings.SKILLQUAY_PORT) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_up_refuses_a_database_without_tables(tmp_path):
    done = _manage("up", SKILLQUAY_VAR=str(tmp_path), DATABASE_URL="", SKILLQUAY_PORT=str(free_port()))
    assert done.returncode == 1
    assert "set_up" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
def test_up_names_the_isolation_tier(settings, tmp_path, monkeypatch, capsys):
    settings.SKILLQUAY_VAR = tmp_path
    settings.SKILLQUAY_PORT = 0
    settings.SKILLQUAY_SANDBOX = "unsafe"
    monkeypatch.setattr(up, "Supervisor", lambda *_, **__: type("Quiet", (), {"run": lambda self: None})())
    call_command("up", skip_checks=True)
    assert "isolation tier unsafe" in capsys.readouterr().err


def test_web_processes_share_an_empty_metrics_folder(settings, tmp_path):
    settings.SKILLQUAY_VAR = tmp_path
    settings.SKILLQUAY_WEB_PROCESSES = 1
    assert up.web_program().environment == {}
    settings.SKILLQUAY_WEB_PROCESSES = 2
    folder = Path(up.web_program().environment["PROMETHEUS_MULTIPROC_DIR"])
    (folder / "counter_1.db").touch()
    up.web_program()
    assert list(folder.iterdir()) == []


def test_data_folder_that_cannot_be_created_is_named(monkeypatch):
    monkeypatch.setenv("SKILLQUAY_VAR", "/proc/skillquay")
    with pytest.raises(ImproperlyConfigured, match="/proc/skillquay"):
        env.writable_folder("SKILLQUAY_VAR", ROOT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_data_folder_of_another_user_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SKILLQUAY_VAR", str(tmp_path))
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            env.writable_folder("SKILLQUAY_VAR", ROOT)
        except ImproperlyConfigured as error:
            os._exit(str(tmp_path) not in str(error))
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_command_without_its_packages_ends_with_the_remedy():
    done = _manage("check", argv=(sys.executable, "-S", "manage.py"))
    assert done.returncode == 1
    assert "make -B .venv/runtime" in done.stderr
    assert done.stderr.count("\n") == 1


def test_python_without_venv_leaves_no_broken_environment(tmp_path):
    """Debian's python3 without python3-venv leaves one without pip, which blocked later attempts."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] && mkdir -p .venv/bin && exit 1\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    done = subprocess.run(
        ["make", ".venv/runtime", f"PYTHON={python}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "python3-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()
