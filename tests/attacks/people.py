"""Runs every attack as this process's own user and, if that is root, also as a plain user."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tests.attacks.catalogue import EVERY_ATTACK
from worker.sandbox.doctor.attacks.arena import Check, all_attacks
from worker.sandbox.site_settings import SandboxSettings, Tier
from worker.sandbox.tiers.available import usable_tiers

ROOT = Path(__file__).resolve().parents[2]
# One for each process of the tests: in tier C the processes of one user count together.
PLAIN_UID = 61_234 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
WATCHDOG = ", with the watchdog alone"  # without what the kernel could enforce
PEOPLE = ("this user", "this user" + WATCHDOG, "a plain user", "a plain user" + WATCHDOG)
TIERS: tuple[Tier, ...] = ("bwrap", "nsrun", "landlock")
_AS_PLAIN_USER = """
import json, sys
from dataclasses import asdict
from tests.attacks.catalogue import EVERY_ATTACK
from worker.sandbox.site_settings import SandboxSettings
from worker.sandbox.tiers.available import usable_tiers
from worker.sandbox.doctor.attacks.arena import all_attacks
usable = [report.name for report in usable_tiers()]
site = SandboxSettings(**json.loads(sys.argv[2]))
print(json.dumps([asdict(check) for check in all_attacks(sys.argv[1], site, EVERY_ATTACK)]))
"""


class Absent(Exception):
    """This machine cannot try it; the text says why."""


@functools.cache
def tried(person: str, tier: Tier) -> dict[str, Check]:
    """All attacks by one person in one tier, tried once however many tests ask."""
    report = next(report for report in usable_tiers() if report.name == tier)
    if not report.usable:
        raise Absent(f"{tier}: {report.reason}")
    checks = _once(f"{person} {tier}", lambda: _all(person, tier))
    return {check.attack: check for check in checks}


def _all(person: str, tier: Tier) -> list[Check]:
    site = SandboxSettings()
    if person.endswith(WATCHDOG):
        site = SandboxSettings(use_cgroups=False, use_scratch=False)
    if person.startswith("a plain user"):
        return _by_plain_user(tier, site)
    return all_attacks(tier, site, EVERY_ATTACK)


def _once(name: str, try_all: Callable[[], list[Check]]) -> list[Check]:
    """The processes of one test run share what was tried: whoever comes first does it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid()}")
    kept = Path(tempfile.gettempdir(), f"skillquay-attacks-{run}-{name.replace(' ', '-').replace(',', '')}")
    with open(kept, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if text := file.read():
            return [Check(**row) for row in json.loads(text)]
        checks = try_all()
        json.dump([asdict(check) for check in checks], file)
        return checks


def _by_plain_user(tier: str, site: SandboxSettings) -> list[Check]:
    changes = {"use_cgroups": site.use_cgroups, "use_scratch": site.use_scratch}
    done = as_plain_user("-c", _AS_PLAIN_USER, tier, json.dumps(changes))
    assert done.returncode == 0, done.stderr
    return [Check(**row) for row in json.loads(done.stdout)]


def as_plain_user(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_interpreter(), "-B", *arguments],
        cwd=ROOT,
        user=PLAIN_UID,
        group=PLAIN_UID,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": _python_path()},
        capture_output=True,
        text=True,
        timeout=180,
    )


@functools.cache
def _interpreter() -> str:
    """One that the plain user can start: the virtual environment's may lie in root's own home."""
    if os.geteuid() != 0:
        raise Absent("only root can become another user")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"):
        try:
            command = [candidate, "-c", "import worker.sandbox"]
            environment = {"PYTHONPATH": _python_path()}
            done = subprocess.run(
                command,
                cwd=ROOT,
                user=PLAIN_UID,
                group=PLAIN_UID,
                extra_groups=[],
                env=environment,
                check=False,
                capture_output=True,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    raise Absent(f"no Python {version} that a plain user may start, or the checkout is closed to it")


def _python_path() -> str:
    return os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))])
