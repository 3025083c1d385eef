"""A site under ``manage.py up`` per module. Its leases are longer than the longest database lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests import cluster, migrated
from tests.conftest import ROOT
from tests.site import Site, free_port

TIMES = int(os.environ.get("FAULT_TIMES", "1"))  # multiplies the number of runs and kills

BUSY = """
import argparse, json, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--number", type=int, default=0)
parser.add_argument("--seconds", type=float, default=0.1)
parser.add_argument("--told", default="")
asked = parser.parse_args()
def tell(what):
    if asked.told:
        with open(asked.told, "a") as file:
            file.write(f"{what} {asked.number}\\n")
tell("begun")
print("begun", flush=True)
time.sleep(asked.seconds)
tell("done")
print(json.dumps({"number": asked.number}))
"""


@pytest.fixture(scope="module")
def make_site(tmp_path_factory):
    """``make_site(settings…)``: a site with the teams ``ops`` and ``dev``, not started."""
    sites: list[Site] = []

    def make(folder=None, **settings):
        folder = folder or tmp_path_factory.mktemp("faults")
        environment = {"SKILLQUAY_EXAMPLES": "0", "SKILLQUAY_LEASE_SECONDS": "10", **settings}
        site = Site(folder, **environment)
        sites.append(site)
        site.set_up("ops", "dev")
        return site

    yield make
    for site in sites:
        site.stop()


@pytest.fixture
def make_environment(tmp_path):
    """``make_environment(code)``: the environment of subprocesses for a site without services, which is
    migrated and on which the Python code ran.
    """
    own = {"SKILLQUAY_VAR": str(tmp_path / "var"), "DJANGO_SETTINGS_MODULE": "portal.settings"}
    with cluster.corner() as corner:
        environment = {**os.environ, **corner, **own}

        def make(code):
            migrated.lay(environment)
            argv = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
            subprocess.run(argv, cwd=ROOT, env=environment, check=True, timeout=60)
            return environment

        yield make


class RedisServers:
    """Starts Redis servers on one port, one after the other."""

    def __init__(self, program: str, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.argv = [program, "--port", str(self.port), "--save", "", "--dir", str(folder)]
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        argv = [*self.argv, "--bind", "127.0.0.1"]
        self.started.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL))
        return self.started[-1]

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def redis(tmp_path):
    """``redis.start()``: starts a Redis server at ``redis.url`` and returns its process."""
    program = shutil.which("redis-server")
    if not program:
        pytest.skip("redis-server is not installed")
    with closing(RedisServers(program, tmp_path)) as servers:
        yield servers


@pytest.fixture
def disk(tmp_path):
    """``disk(megabytes)``: a folder whose ``var`` is a separate small disk."""
    mounted = []

    def make(size):
        if os.geteuid() != 0 or not sys.platform.startswith("linux"):
            pytest.skip("only root may mount a small disk")
        folder = tmp_path / "site"
        (folder / "var").mkdir(parents=True)
        argv = ["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=0700", "tmpfs", str(folder / "var")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
        mounted.append(folder / "var")
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
