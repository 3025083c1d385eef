"""A Python script sees the standard library and its own dependencies, on every tier and as every user."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from tests.attacks.people import Absent, as_plain_user
from worker.sandbox import runtimes
from worker.sandbox.policy import Job
from worker.sandbox.site_settings import TIERS, SandboxSettings
from worker.sandbox.tiers.available import run, usable_tiers

pytestmark = [pytest.mark.row("A1", "P9"), pytest.mark.matrix("tier", at_most=1)]

_FIND = """
import importlib.util, json, sys
names = ("django", "yaml", "celery", "rest_framework", "pip", "setuptools", "requests", "boto3", "own")
print(json.dumps([name for name in names if importlib.util.find_spec(name)]))
"""
_SCRIPT = f"""
import ctypes, encodings.idna, json, sqlite3, ssl, subprocess, sys, sysconfig, venv
import sibling
if not callable(exit):
    raise SystemExit("no exit()")
find = {_FIND!r}
for program in (sys.executable, "python", "python3"):
    subprocess.run([program, "-c", find], check=True)
exec(find)
print(json.dumps([path for path in sys.path if path.endswith("-packages")]))
"""


def seen(tier: str, top: Path) -> list[list[str]]:
    """What each Python process of one run finds, and the package folders on the path of the first."""
    for path, text in {
        "skill/a.py": _SCRIPT,
        "skill/sibling.py": "",
        "deps/own.py": "",
    }.items():
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text(text)
        (top / path).chmod(0o644)
    (top / "job" / "output").mkdir(parents=True)
    job = Job(
        ("python", "-B", "/skill/a.py"),
        top / "skill",
        top / "job",
        environment={"PYTHONPATH": "/deps"},
        mounts={"/deps": top / "deps"},
    )
    ended = run(job, tier=tier, site=SandboxSettings(minimum="landlock"))  # type: ignore[arg-type]
    assert ended.exit_code == 0, ended
    return [json.loads(line) for line in ended.stdout.splitlines()]


EXPECTED = [["own"], ["own"], ["own"], ["own"], []]


def test_script_and_its_processes_see_no_package_of_the_host(tier, tmp_path):
    assert seen(tier, tmp_path) == EXPECTED


def test_run_of_a_plain_user_sees_no_package_of_the_host():
    try:
        done = as_plain_user("-m", "tests.worker.sandbox.test_modules")
    except Absent as absent:
        pytest.skip(str(absent))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found
    assert found == dict.fromkeys(found, EXPECTED)


def test_versions_of_the_runtimes_are_known():
    assert runtimes.version("python").startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert all(runtimes.version(name)[0].isdigit() for name in runtimes.installed())
    assert runtimes.system_release()


def main() -> None:
    usable = [report.name for report in usable_tiers() if report.usable and report.name in TIERS]
    found = {}
    for tier in usable:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            found[tier] = seen(tier, Path(folder))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
